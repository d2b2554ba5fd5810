import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Session } from '../../dev/demo/api.ts'
import type { Interval } from '../clock/critical-path.ts'

/** The time of a round, in milliseconds since 1970: from its request to its last status. */
export function windowOf({ created_at, statuses }: Session['rounds'][number]) {
  return { from: Date.parse(created_at), to: Date.parse(statuses.at(-1)?.created_at ?? created_at) }
}

/** Reads the engine's jobs since a moment from the records of the iac sidecar. */
export async function readJobs(folder: string, since: number): Promise<Interval[]> {
  const place = join(folder, 'iac/jobs')
  const names = (await readdir(place)).filter((name) => name.endsWith('.json'))
  const records = await Promise.all(names.map(async (name) => JSON.parse(await readFile(join(place, name), 'utf8'))))
  return records
    .filter(({ finished_at }) => finished_at !== null)
    .map(({ kind, created_at, finished_at }) => ({
      ...{ kind: 'engine' as const, name: String(kind) },
      ...{ from: Date.parse(created_at), to: Date.parse(finished_at) },
    }))
    .filter(({ from }) => from >= since)
}
