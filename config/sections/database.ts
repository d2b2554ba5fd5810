import * as v from 'valibot'
import { text } from '../fields.ts'
import type { Source } from '../source.ts'
import type { Config } from '../types.ts'

export const databaseSchema = v.object({ platform_database_url_env: text('PLATFORM_SQL_DATABASE_URL') })

export function readDatabase(source: Source): Config['database'] {
  const { values, failed } = source.section('database', databaseSchema)
  const url = source.variable(values.platform_database_url_env)
  if (url === '' && failed.size === 0) source.problem('Missing env variable for platform database')
  return { ...values, url }
}
