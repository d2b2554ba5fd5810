import { posix } from 'node:path'
import type { Room } from './rooms.ts'
import { areaOf, isFile, isShallow, isWithin, pathsOf, type Table } from './table.ts'

/** Biome's configuration of one group of files; `borders.json` is a list of these. */
export interface Override {
  includes: string[]
  linter: {
    rules: { style: { noRestrictedImports: { level: 'error'; options: { patterns: Restriction[] } } } }
  }
}

interface Restriction {
  /** Patterns as in `.gitignore` over the text of an import: the last one that fits decides, `!` allows. */
  group: string[]
  message: string
}

/**
 * The table as rules of the lint. Biome compares the text of an import and knows no paths: `../plan/read.ts` means
 * another room in `src/rules/network.ts` and an inner folder in `src/rules/aws/bucket.ts`. Hence a rule for each room
 * and each depth of its folders. It forbids whatever leaves the room and allows what the row of the room names, so
 * folders inside a room may have any name.
 *
 * @param files all files of the house
 */
export function createOverrides(table: Table, files: readonly string[]): Override[] {
  return table.rooms.flatMap((room) =>
    findPlaces(room, table, files).map(({ includes, folder }) => ({
      includes,
      linter: {
        rules: {
          style: {
            noRestrictedImports: { level: 'error', options: { patterns: createRestrictions(room, folder, table) } },
          },
        },
      },
    })),
  )
}

interface Place {
  includes: string[]
  /** A folder of that depth inside the room; a stand-in for all of them. */
  folder: string
}

function findPlaces(room: Room, table: Table, files: readonly string[]): Place[] {
  const paths = pathsOf(room)
  const single = paths.filter(isFile)
  const places = single.length === 0 ? [] : [{ includes: [...single], folder: posix.dirname(single[0] ?? '') }]
  const own = files.filter((file) => table.roomOf(file) === room.name)
  for (const path of paths.filter((candidate) => !isFile(candidate))) {
    const depths = own.filter((file) => isWithin(file, path)).map((file) => depthOf(file) - depthOf(path) - 1)
    for (const depth of [...new Set(depths)].sort((a, b) => a - b)) {
      const pattern = `${path}/${'*/'.repeat(depth)}*`
      const others = findInnerFiles(path, room, table).filter((file) => depthOf(file) - depthOf(path) - 1 === depth)
      places.push({
        includes: [pattern, ...others.map((file) => `!${file}`)],
        folder: posix.join(path, ...INNER.slice(0, depth)),
      })
    }
  }
  return places
}

/** Names that no folder has. */
const INNER = ['<1>', '<2>', '<3>', '<4>', '<5>', '<6>', '<7>', '<8>']

const depthOf = (path: string): number => path.split('/').length - 1

/** Files below the folder that are rooms of their own. */
const findInnerFiles = (folder: string, room: Room, table: Table): string[] =>
  table.rooms
    .filter(({ name }) => name !== room.name)
    .flatMap(pathsOf)
    .filter((path) => isFile(path) && isWithin(path, folder))

function createRestrictions(room: Room, folder: string, table: Table): Restriction[] {
  const message = `${room.name} may import ${list(room.imports)}: see the table of rooms in AGENTS.md.`
  const restrictions = [{ group: createPatterns(room, folder, table), message }]
  return room.node
    ? restrictions
    : [{ group: ['node:*'], message: `${room.name} may not import node: modules.` }, ...restrictions]
}

const list = (imports: readonly string[]): string =>
  imports.map((entry) => entry.replace(/^!/, 'not ')).join(', ') || 'nothing of ours'

/**
 * Order matters: what leaves the room is forbidden, then rooms are allowed, then parts of what was allowed forbidden.
 */
function createPatterns(room: Room, folder: string, table: Table): string[] {
  const from = (path: string) => relative(folder, path)
  const cover = (other: Room) =>
    pathsOf(other).map((path) => from(isFile(path) ? path : `${path}/${isShallow(other, table.rooms) ? '*' : '**'}`))
  const allowed = table.allowedRooms(room.name)
  let leave = leaveRoom(room, folder, table)
  const allow: string[] = []
  const forbid: string[] = []
  for (const area of new Set(table.rooms.flatMap(pathsOf).map(areaOf))) {
    const inside = table.rooms.filter((other) => other.name !== room.name && isInArea(other, area))
    const open = inside.filter(({ name }) => allowed.has(name))
    const closed = inside.filter(({ name }) => !allowed.has(name))
    if (open.length > closed.length) {
      // Most of the area is allowed: name the rest. In its own area a room is then free up to the border of the area.
      if (areaOf(folder) === area) leave = [`${from('')}/**`]
      else allow.push(`!${from(area)}/**`)
      forbid.push(...closed.flatMap(cover))
    } else {
      allow.push(...open.flatMap(cover).map((pattern) => `!${pattern}`))
      const innerFiles = open.flatMap((other) => pathsOf(other).flatMap((path) => findInnerFiles(path, other, table)))
      forbid.push(...innerFiles.filter((file) => !table.allows(room.name, file)).map(from))
    }
  }
  const paths = table.allowedPaths(room.name).map((path) => `!${from(isFile(path) ? path : `${path}/**`)}`)
  if (room.imports.includes('*')) allow.push(`!${from('*')}`)
  return [...leave, ...new Set(allow), ...new Set(forbid), ...paths]
}

/** Patterns of everything outside the room, as seen from the folder. */
function leaveRoom(room: Room, folder: string, table: Table): string[] {
  const root = pathsOf(room).find((path) => !isFile(path) && isWithin(folder, path))
  if (root === undefined) {
    const siblings = pathsOf(room).map((path) => `!${relative(folder, path)}`)
    return siblings.length > 1 ? ['./**', '../**', ...siblings] : ['./**', '../**']
  }
  const inner = findInnerFiles(root, room, table).map((path) => relative(folder, path))
  const outside = [`${relative(folder, posix.dirname(root))}/**`, ...inner]
  return isShallow(room, table.rooms) ? [...outside, './*/**'] : outside
}

const isInArea = (room: Room, area: string): boolean => pathsOf(room).some((path) => areaOf(path) === area)

/** As an import spells it: `./a.ts`, `../b/c.ts`, `..`. */
function relative(folder: string, path: string): string {
  const text = posix.relative(folder, path)
  return text.startsWith('..') ? text : `./${text}`
}
