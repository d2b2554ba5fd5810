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
  unprepared(isNeeded?: boolean): this
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
  /**
   * @param isThere looks for what the transaction has written. Give it where the result would be wrong otherwise: a
   * server that crashed may give the number of a lost transaction to another one.
   */
  begin<T>(work: (tx: Transaction) => Promise<T>, isThere?: (result: T) => Promise<boolean>): Promise<T>
  /** @param mode follows the word BEGIN, for example `ISOLATION LEVEL REPEATABLE READ READ ONLY` */
  begin<T>(mode: string, work: (tx: Transaction) => Promise<T>): Promise<T>
  /** As `begin`, past a pooler if the pool knows a way: for locks that are held during other work, and migrations. */
  beginDirect<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /**
   * Subscribes to a channel's notifications. All listeners of the pool share one connection, which is reopened after a
   * loss. `onListening` is called after each opening, because earlier notifications may be lost. Where no notification
   * arrives, as through a pooler that changes sessions, it is called every second.
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

/** A compiled statement: its text with the placeholders `$1`, `$2` and so on, and their values. */
export interface Statement {
  text: string
  values: readonly unknown[]
}
/** Runs a statement: on any connection of a pool, or on the one connection of a transaction. */
export type Execute = (statement: Statement, options?: ExecuteOptions) => Promise<Result>
export interface ExecuteOptions {
  /** Reads timestamps as `Date`, the driver's default. */
  types?: 'driver'
  /** False if the statement is planned for its values each time. */
  prepare?: boolean
}

/** Makes the template tag of a pool or a transaction. */
export function createTag(execute: Execute) {
  function tag<Rows extends readonly object[] = Row[]>(strings: TemplateStringsArray, ...values: Value[]): Query<Rows>
  function tag(identifier: string): Identifier
  function tag(first: TemplateStringsArray | string, ...values: Value[]): Query | Identifier {
    return typeof first === 'string' ? { identifier: first } : new LazyQuery({ strings: first, values }, execute)
  }
  const unsafe = (text: string, values: readonly unknown[] = [], options?: ExecuteOptions) =>
    execute({ text, values }, options)
  return Object.assign(tag, { unsafe })
}

class LazyQuery<Rows extends readonly object[]> implements Query<Rows> {
  readonly [Symbol.toStringTag] = 'Query'
  readonly template: Template
  readonly #execute: Execute
  #running: Promise<Result<Rows>> | null = null
  #prepare = true

  constructor(template: Template, execute: Execute) {
    this.template = template
    this.#execute = execute
  }

  simple(): this {
    if (this.template.values.length > 0) throw new Error('several statements take no values')
    return this
  }
  unprepared(isNeeded = true): this {
    if (isNeeded) this.#prepare = false
    return this
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting is what runs a statement
  then<A = Result<Rows>, B = never>(
    fulfilled?: ((value: Result<Rows>) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#run().then(fulfilled, rejected)
  }
  catch<B = never>(rejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Result<Rows> | B> {
    return this.#run().catch(rejected)
  }
  finally(settled?: (() => void) | null): Promise<Result<Rows>> {
    return this.#run().finally(settled)
  }

  async #start(): Promise<Result<Rows>> {
    const result: unknown = await this.#execute(compile(this.template), { prepare: this.#prepare })
    return result as Result<Rows>
  }
  #run(): Promise<Result<Rows>> {
    this.#running ??= this.#start()
    return this.#running
  }
}

/**
 * Compiles a template to a statement: nested queries become part of the text, identifiers are quoted, and all other
 * values become numbered placeholders. Throws when a value is undefined.
 */
export function compile(template: Template): Statement {
  const values: unknown[] = []
  const writeTemplate = ({ strings, values: parts }: Template): string =>
    strings.reduce((text, string, index) => text + writeValue(parts[index - 1]) + string)
  const writeValue = (value: Value | undefined): string => {
    if (value === undefined) throw new Error('undefined is not a value of a statement')
    if (typeof value === 'object' && value !== null) {
      if ('template' in value) return writeTemplate(value.template)
      if ('identifier' in value) return `"${value.identifier.replaceAll('"', '""')}"`
    }
    values.push(value)
    return `$${values.length}`
  }
  return { text: writeTemplate(template), values }
}
