import * as v from 'valibot'
import { choice } from '../fields.ts'
import type { Source } from '../source.ts'
import type { Config } from '../types.ts'

const names = ['development', 'staging', 'production'] as const
const spellings = Object.fromEntries(
  names.flatMap((name) => [[name.toUpperCase(), name] as const, [name, name] as const]),
)

/** The only field that is in no section. */
export const environmentSchema = v.object({
  environment: choice<Config['environment']>('development', spellings, names),
})

export const readEnvironment = (source: Source): Config['environment'] =>
  source.section('', environmentSchema).values.environment
