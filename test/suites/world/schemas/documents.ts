import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Engine, initialise, runEngine } from './engine.ts'
import type { Provider } from './examples.ts'
import type { Installed } from './part.ts'

export const INSTALLED = JSON.parse(process.env.WORLD_PROVIDERS ?? '[]') as Installed[]
export const ENGINE: Engine = {
  program: process.env.WORLD_ENGINE ?? 'tofu',
  config: process.env.WORLD_ENGINE_CONFIG ?? '',
}

/** Providers that examples use beside the one of their cloud. */
const HELPERS = ['archive', 'random', 'tls']
/** Bodies of provider blocks without which nothing is valid. */
const CONFIGURATIONS: Record<string, string> = { azurerm: '  features {}\n' }

/** The files that a root needs for the examples of a cloud. */
export function providersFor({ name, source, version }: Installed): Provider[] {
  return [
    { name, source, version, configuration: CONFIGURATIONS[name] ?? '' },
    ...HELPERS.map((helper) => ({ name: helper, source: `hashicorp/${helper}`, configuration: '' })),
  ]
}

export interface Document {
  path: string
  // biome-ignore lint/suspicious/noExplicitAny: it is as large and as free as its provider
  content: any
}

const documents = new Map<string, Promise<Document>>()

/** The output of `providers schema -json` for a provider alone; asked once in a process. */
export function documentOf(installed: Installed): Promise<Document> {
  const known = documents.get(installed.name) ?? read(installed)
  documents.set(installed.name, known)
  return known
}

async function read({ name, source, version }: Installed): Promise<Document> {
  const folder = await mkdtemp(join(tmpdir(), 'world-schema-'))
  const wanted = `${name} = {\n      source  = "${source}"\n      version = "${version}"\n    }`
  await writeFile(join(folder, 'main.tf'), `terraform {\n  required_providers {\n    ${wanted}\n  }\n}\n`)
  await initialise(ENGINE, folder)
  const { code, stdout, stderr } = await runEngine(ENGINE, folder, ['providers', 'schema', '-json'])
  if (code !== 0) throw new Error(stderr)
  const path = join(folder, 'schema.json')
  await writeFile(path, stdout)
  return { path, content: JSON.parse(await readFile(path, 'utf8')) }
}
