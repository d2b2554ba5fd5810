import { readFile, writeFile } from 'node:fs/promises'
import { configSchema } from './config-schema.ts'

// Carries the fields of docs/configuration.md into the schema of the values, after a change of them.
const file = new URL('../../../deploy/chart/values.schema.json', import.meta.url)
const schema = JSON.parse(await readFile(file, 'utf8')) as { $defs: Record<string, object> }
schema.$defs.config = await configSchema()
await writeFile(file, `${JSON.stringify(schema, null, 2)}\n`)
