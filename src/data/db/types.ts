// biome-ignore lint/suspicious/noExplicitAny: what a statement answers is known to its author only; give `sql` a row type to say it
export type Row = Record<string, any>

/** The rows, and what the server said about the statement. */
export type Result<Rows extends readonly object[] = Row[]> = Rows & { count: number; command: string }

/** A statement that runs when it is awaited, once; inside of another statement it is a part of it. */
export interface Query<Rows extends readonly object[] = Row[]> extends Promise<Result<Rows>> {
  readonly template: Template
  /** For several statements in one text, without values. */
  simple(): this
  /** Planned for these values each time; for conditions whose best plan depends on them. */
  unprepared(): this
}

/** A quoted name: `sql('users')`. */
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
  /** A text that was not written here: schema scripts, the queue's own statements. Rows of all its statements. */
  unsafe(text: string, values?: readonly unknown[], options?: { types: 'driver' }): Promise<Result>
}

/** The pool. Tagged templates only; a transaction is `sql.begin(async (tx) => …)`. */
export interface Sql extends Tag {
  begin<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** @param mode of BEGIN, such as `ISOLATION LEVEL REPEATABLE READ READ ONLY` */
  begin<T>(mode: string, work: (tx: Transaction) => Promise<T>): Promise<T>
  /**
   * Hears NOTIFY on a connection that is shared by all listeners of the pool and opened again when it
   * breaks; `onListening` is called each time, because notifications in between were lost.
   */
  listen(
    channel: string,
    onNotification: (payload: string) => void,
    onListening?: () => void,
  ): Promise<{ unlisten(): Promise<void> }>
  notify(channel: string, payload: string): Promise<unknown>
  /** Waits for running statements, `timeout` seconds at most. */
  end(options?: { timeout?: number }): Promise<void>
}

export interface Transaction extends Tag {
  /** Undoes what `work` did when it rejects, and no more. */
  savepoint<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
}

/** For functions that run inside or outside of a transaction. */
export type Db = Sql | Transaction
