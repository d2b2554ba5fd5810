import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'

/** What `docs/rules-catalogue.yaml` says of the checks of one cloud. */
export interface CloudVerdicts {
  built: { class: string; high?: boolean; rules: string[]; checks: string[] }[]
  left?: { why: string; checks: string[] }[]
  unseen?: { why: string; checks: string[] }[]
}

/** Returns the verdicts on the catalogue, by cloud as the identifiers name it. */
export async function readVerdicts(): Promise<Record<string, CloudVerdicts>> {
  return parse(await readFile(new URL('../../../../docs/rules-catalogue.yaml', import.meta.url), 'utf8'))
}

/** Lists the checks of a cloud with a verdict. */
export const checksOf = ({ built, left = [], unseen = [] }: CloudVerdicts): string[] =>
  [...built, ...left, ...unseen].flatMap(({ checks }) => checks)

/** Reports whether the examples of a check were kept from whoever wrote the rules: about half, by a hash. */
export const isHeldOut = (check: string): boolean => (createHash('sha256').update(check).digest().at(-1) ?? 0) % 2 === 1
