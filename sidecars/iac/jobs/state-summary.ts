import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { isJsonObject, itemsOf, parseJson } from '../../../src/base/json.ts'
import { type OutputFiles, writeOutput } from '../output/files.ts'

/** What a state holds, without its values. */
export interface StateSummary {
  /** Empty without a state. */
  lineage: string
  /** 0 without a state. */
  serial: number
  /** Addresses of the managed objects, sorted. */
  addresses: string[]
  /** SHA-256 of objects and outputs. */
  content_sha256: string
  /** All workspaces of the backend; null when they cannot be listed. */
  workspaces: string[] | null
}

/**
 * Runs a state summary job and returns its exit code. The state itself never leaves the service.
 * @param pull has the engine write the state into the output files; `list` the same with the workspaces
 */
export async function runSummaryJob(
  output: OutputFiles,
  pull: () => Promise<number>,
  list: () => Promise<number>,
): Promise<number> {
  const pulled = await pull()
  if (pulled !== 0) return await writeOutput(output, pulled, '', await readFile(output.stderr, 'utf8'))
  const state = summarise(await readFile(output.stdout, 'utf8'))
  if (state === null) return await writeOutput(output, 1, '', 'state pull returned an unparsable state document')
  const listed = await list()
  const text = await readFile(listed === 0 ? output.stdout : output.stderr, 'utf8')
  return await writeOutput(output, 0, JSON.stringify({ ...state, workspaces: readWorkspaces(listed, text) }), '')
}

function readWorkspaces(exitCode: number, text: string): string[] | null {
  if (exitCode === 0) return text.split('\n').flatMap((line) => line.replace(/^\*?\s+/, '').trim() || [])
  return /workspaces not supported/.test(text) ? ['default'] : null
}

/** Summarises a state document, empty text for none; null for any other document. */
export function summarise(document: string): Omit<StateSummary, 'workspaces'> | null {
  const state = document.trim() === '' ? {} : parseJson(document)
  if (!isJsonObject(state)) return null
  const { lineage = '', serial = 0, resources = [], outputs = {} } = state
  if (typeof lineage !== 'string' || typeof serial !== 'number') return null
  const content = JSON.stringify({ resources, outputs })
  const content_sha256 = createHash('sha256').update(content).digest('hex')
  return { lineage, serial, addresses: itemsOf(resources).flatMap(addressesOf).sort(), content_sha256 }
}

/** Returns the addresses of the objects of a managed resource, as plans write them. */
function addressesOf(resource: unknown): string[] {
  if (!isJsonObject(resource) || resource.mode !== 'managed') return []
  const name = `${resource.module === undefined ? '' : `${resource.module}.`}${resource.type}.${resource.name}`
  return itemsOf(resource.instances).flatMap((instance) => {
    if (!isJsonObject(instance) || instance.deposed !== undefined) return []
    return [instance.index_key === undefined ? name : `${name}[${JSON.stringify(instance.index_key)}]`]
  })
}
