import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeAtomically } from '../files.ts'
import type { Room } from './rooms.ts'
import { pathsOf, type Table } from './table.ts'

/** The page that has the table. */
export const RULES = 'AGENTS.md'
const BEGIN = '<!-- rooms: written by npm run structure -- --write -->'
const END = '<!-- end of rooms -->'

/** Writes the table into the page. Errors: the page has no markers. */
export async function writeTable(root: string, table: Table): Promise<void> {
  const page = replaceRooms(await readFile(join(root, RULES), 'utf8'), table.rooms)
  await writeAtomically(join(root, RULES), page, 0o644)
}

/** Returns what is out of step with the table, as sentences. */
export async function findOutOfStep(root: string, table: Table): Promise<string[]> {
  const page = await readFile(join(root, RULES), 'utf8').catch(() => '')
  try {
    return replaceRooms(page, table.rooms) === page ? [] : [`${RULES} is out of step with the table of rooms.`]
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

/** The page with the table between its markers. Errors: a marker is missing. */
export function replaceRooms(page: string, rooms: readonly Room[]): string {
  const begin = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`${RULES} needs the lines '${BEGIN}' and '${END}'.`)
  return `${page.slice(0, begin + BEGIN.length)}\n\n${writeRooms(rooms)}\n\n${page.slice(end)}`
}

function writeRooms(rooms: readonly Room[]): string {
  const rows = rooms.map((room) => {
    const names = pathsOf(room)
      .map((path) => `\`${path}\``)
      .join(', ')
    const imports = room.imports.map(describeImport).join(', ') || 'nothing of ours'
    return `| ${names} | ${room.holds} | ${imports} | ${room.node ? 'yes' : 'no'} |`
  })
  return ['| Room | Holds | May import | `node:` |', '|---|---|---|---|', ...rows].join('\n')
}

/** `!src/runtime` as `not src/runtime`, and the groups in words. */
function describeImport(entry: string): string {
  if (entry === '*') return 'every room above'
  return entry.startsWith('!') ? `not \`${entry.slice(1)}\`` : `\`${entry}\``
}
