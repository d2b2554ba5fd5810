import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { writeAtomically } from '../files.ts'
import { createOverrides } from './lint.ts'
import { MAX_COLUMNS } from './parse.ts'
import type { Room } from './rooms.ts'
import { pathsOf, type Table } from './table.ts'

/** What follows from the table and lies in the repository: a part of the lint's configuration and one of a page. */
export const BORDERS = 'dev/structure/borders.json'
export const RULES = 'AGENTS.md'
const BEGIN = '<!-- rooms: written by npm run structure -- --write -->'
const END = '<!-- end of rooms -->'

/** Brings both files in step with the table. Errors: the page has no markers. */
export async function writeTable(root: string, table: Table, files: readonly string[]): Promise<void> {
  const page = replaceRooms(await readFile(join(root, RULES), 'utf8'), table.rooms)
  const borders = format({ overrides: createOverrides(table, files) })
  await writeAtomically(join(root, BORDERS), `${borders}\n`, 0o644)
  await writeAtomically(join(root, RULES), page, 0o644)
}

/** What is out of step with the table, as sentences. */
export async function findOutOfStep(root: string, table: Table, files: readonly string[]): Promise<string[]> {
  const [borders, lint, page] = await Promise.all(
    [BORDERS, 'biome.json', RULES].map((path) => readFile(join(root, path), 'utf8').catch(() => '')),
  )
  const errors: string[] = []
  if (!isDeepStrictEqual(parseJson(borders), { overrides: createOverrides(table, files) }))
    errors.push(`${BORDERS} is out of step with the table of rooms.`)
  const { extends: extended } = Object(parseJson(lint))
  if (!Array.isArray(extended) || !extended.includes(`./${BORDERS}`))
    errors.push(`biome.json does not extend ./${BORDERS}.`)
  try {
    if (replaceRooms(page ?? '', table.rooms) !== page) errors.push(`${RULES} is out of step with the table of rooms.`)
  } catch (error) {
    errors.push(error instanceof Error ? error.message : String(error))
  }
  return errors
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

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return null
  }
}

/**
 * JSON as `npm run format` would leave it, so that nobody has to run it afterwards: objects over several lines, texts
 * of an array in one line where they fit. Biome itself cannot be asked: it reads the file that is being written.
 *
 * @param before what stands before the value in its line
 */
function format(value: unknown, before = ''): string {
  const indent = /^ */.exec(before)?.[0] ?? ''
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    const line = `[${value.map((item) => JSON.stringify(item)).join(', ')}]`
    const fits = before.length + line.length < MAX_COLUMNS
    if (fits && value.every((item) => typeof item === 'string')) return line
    return `[\n${value.map((item) => `${inner}${format(item, inner)}`).join(',\n')}\n${indent}]`
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).map(([name, item]) => {
    const key = `${inner}${JSON.stringify(name)}: `
    return `${key}${format(item, key)}`
  })
  return `{\n${entries.join(',\n')}\n${indent}}`
}
