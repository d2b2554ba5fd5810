// biome-ignore lint/suspicious/noExplicitAny: only the author of a statement knows its rows, and types them at `sql`
export type Row = Record<string, any>

/** The rows of a statement, with the number of affected rows and the command that the server completed. */
export type Result<Rows extends readonly object[] = Row[]> = Rows & { count: number; command: string }

/** A statement. It runs once, when first awaited; as a value in another template it becomes part of that. */
export interface Query<Rows extends readonly object[] = Row[]> extends Promise<Result<Rows>> {
  readonly template: Template
  /** Allows several statements in the text. Throws when there are values. */
  simple(): this
  /** Has the server plan the statement for its values each time, where the best plan depends on them. */
  unprepared(): this
}

/** A name of a table or column, which is quoted: `sql('users')`. */
export interface Identifier {
  readonly identifier: string
}
export type Value =
  | string
  | number
  | bigint
  | boolean
  | null
  | Date
  | Uint8Array
  | readonly Value[]
  | Query<never>
  | Query
  | Identifier

export interface Template {
  strings: readonly string[]
  values: readonly Value[]
}

interface Tag {
  <Rows extends readonly object[] = Row[]>(strings: TemplateStringsArray, ...values: Value[]): Query<Rows>
  (identifier: string): Identifier
  /** Runs a raw text, such as the statements of the queue library. */
  unsafe(text: string, values?: readonly unknown[], options?: { types: 'driver' }): Promise<Result>
}

/** The pool. A statement is a tagged template: sql`SELECT 1`. A transaction is `sql.begin(async (tx) => …)`. */
export interface Sql extends Tag {
  begin<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** @param mode follows the word BEGIN, for example `ISOLATION LEVEL REPEATABLE READ READ ONLY` */
  begin<T>(mode: string, work: (tx: Transaction) => Promise<T>): Promise<T>
  /**
   * Subscribes to a channel's notifications. All listeners of the pool share one connection, which is reopened after a
   * loss. `onListening` is called after each opening, because earlier notifications may be lost.
   */
  listen(
    channel: string,
    onNotification: (payload: string) => void,
    onListening?: () => void,
  ): Promise<{ unlisten(): Promise<void> }>
  notify(channel: string, payload: string): Promise<unknown>
  /** Closes all connections after running statements have ended, at most `timeout` seconds later if set. */
  end(options?: { timeout?: number }): Promise<void>
}

export interface Transaction extends Tag {
  /** Runs `work`; if it rejects, its changes are undone and the transaction can continue. */
  savepoint<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
}

/** The pool or a transaction, for functions that run in either. */
export type Db = Sql | Transaction
