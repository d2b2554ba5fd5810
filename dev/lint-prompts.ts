import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { LOCK_FILE, readLockFile } from '../src/plan/schema/lock-file.ts'
import { SeedError } from '../src/prompts/parse-seed.ts'
import { readSeedPrompts } from '../src/runtime/prompts.ts'
import { lintPrompts } from './prompt-lint/lint.ts'
import { shippedPrompts } from './prompt-lint/markdown.ts'
import { readProviderSchema } from './prompt-lint/schema.ts'

const HELP = `Usage: npm run lint:prompts [-- <folder>]

Checks the prompts of a folder (<scope>/<type>/<name>.yaml), the shipped ones without an argument.
With PLATFORM_PROVIDER_SCHEMA=<file>, the output of "providers schema -json", the arguments and references
of examples are compared with those of the providers too; a lock file in its folder tells their versions.
Several files, one a version, are separated by commas. Exit code 1 when something was found.`

async function run(folder: string | undefined): Promise<number> {
  const files = (process.env.PLATFORM_PROVIDER_SCHEMA ?? '').split(',').filter((file) => file !== '')
  const prompts = await readSeedPrompts(folder)
  const required = folder === undefined ? shippedPrompts() : []
  const schemas = files.length === 0 ? [{}] : await Promise.all(files.map(readSchema))
  const all = schemas.flatMap((schema) => lintPrompts(prompts, { ...schema, required }))
  const findings = [...new Map(all.map((finding) => [JSON.stringify(finding), finding])).values()]
  for (const { prompt, rule, line, message } of findings)
    console.log(
      `${prompt.split('-').join('/')}.yaml${line === null ? '' : `, line ${line} of its body`}: ${message} (${rule})`,
    )
  console.log(`${prompts.size} prompts, ${findings.length} findings`)
  return findings.length === 0 ? 0 : 1
}

async function readSchema(file: string) {
  const lock = await readFile(join(dirname(file), LOCK_FILE), 'utf8').catch(() => '')
  return { schema: readProviderSchema(JSON.parse(await readFile(file, 'utf8'))), installed: readLockFile(lock) }
}

const [folder] = process.argv.slice(2)
if (folder === '--help') console.log(HELP)
else
  try {
    process.exitCode = await run(folder)
  } catch (error) {
    console.error(
      error instanceof SeedError
        ? error.message
        : `The prompts could not be read: ${error instanceof Error ? error.message : error}`,
    )
    process.exitCode = 2
  }
