import type { Identifier, Query, Result, Row, Template, Value } from './types.ts'

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
  unprepared(): this {
    this.#prepare = false
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
