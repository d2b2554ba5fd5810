/** A type that code can declare: `resource` or `data`, and its name. */
export interface TypeName {
  mode: 'resource' | 'data'
  type: string
}

/** The schema of one type as the engine tells it. */
export interface TypeSchema extends TypeName {
  /** Source address of the provider. */
  provider: string
  version: string | null
  schema: unknown
}

export const keyOf = ({ mode, type }: TypeName): string => `${mode} ${type}`
