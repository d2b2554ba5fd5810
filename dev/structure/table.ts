import { posix } from 'node:path'
import type { Room } from './rooms.ts'

/** The table of rooms, read. */
export type Table = ReturnType<typeof readTable>

export const pathsOf = (room: Room): readonly string[] => room.paths ?? [room.name]

const isFile = (path: string): boolean => /\.tsx?$/.test(path)
const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)
/** True for settings of tools, which are at the root and belong to no room. */
const isAtRoot = (path: string): boolean => !path.includes('/')

/** @param files all files that the rows must hold, from the root */
export function readTable(rooms: readonly Room[], files: readonly string[]) {
  const roomOf = createRoomFinder(rooms)
  const grants = new Map(rooms.map((room, rank) => [room, readImports(room, rooms.slice(0, rank), files)]))
  const held = new Set(files.map(roomOf))
  const homeless = new Set(files.filter((file) => roomOf(file) === null).map(posix.dirname))
  return {
    /** Returns the room of a path; null if there is none. */
    roomOf,
    /** Returns why a file of the room may not import a target (a path from the root or a `node:` module), or null. */
    refuse(room: Room, path: string, target: string): string | null {
      if (room.entries?.includes(path)) return null
      if (target.startsWith('node:'))
        return mayUseNode(room, path) ? null : `${room.name} may not import node: modules.`
      const owner = roomOf(target)
      const grant = grants.get(room)
      if (owner === room || grant?.paths.some((allowed) => isWithin(target, allowed))) return null
      if (owner === null && isAtRoot(target) && room.imports.includes('*')) return null
      if (owner !== null && grant?.rooms.has(owner)) return null
      const isUpward = owner !== null && rooms.indexOf(owner) > rooms.indexOf(room)
      return isUpward ? `${owner.name} stands below ${room.name}.` : `The row of ${room.name} does not name it.`
    },
    /** Faults of the table itself, as sentences. */
    errors: [
      ...(new Set(rooms.map(({ name }) => name)).size < rooms.length ? ['Two rows have the same name.'] : []),
      ...[...grants.values()].flatMap(({ errors }) => errors),
      ...rooms.filter((room) => !held.has(room)).map(({ name }) => `${name} holds no file.`),
      ...[...homeless].map((folder) => `${folder} is in no room.`),
    ],
  }
}

const mayUseNode = ({ node = [] }: Room, path: string): boolean =>
  node === true || node.some((folder) => isWithin(path, folder))

/** Finds the row with the longest path, so a file may be a room inside the folder of another room. */
function createRoomFinder(rooms: readonly Room[]): (path: string) => Room | null {
  const entries = rooms
    .flatMap((room) => pathsOf(room).map((path) => ({ path, room, isShallow: hasRoomsInside(path, room, rooms) })))
    .sort((a, b) => b.path.length - a.path.length)
  return (path) => {
    const entry = entries.find((candidate) => isWithin(path, candidate.path))
    if (!entry) return null
    return entry.isShallow && path.slice(entry.path.length + 1).includes('/') ? null : entry.room
  }
}

/** True for a folder with other rooms inside, which keeps only the files directly in it. */
function hasRoomsInside(path: string, room: Room, rooms: readonly Room[]): boolean {
  const others = rooms.filter((other) => other !== room).flatMap(pathsOf)
  return others.some((other) => !isFile(other) && isWithin(other, path))
}

function readImports(room: Room, before: readonly Room[], files: readonly string[]) {
  const errors: string[] = []
  const rooms = new Set<Room>()
  const paths: string[] = []
  for (const entry of room.imports) {
    const name = entry.replace(/^!/, '')
    const matches = before.filter((other) => name === '*' || other.name === name || isInGroup(other, name))
    const isPath = entry === name && matches.length === 0 && files.some((file) => isWithin(file, name))
    if (isPath) paths.push(name)
    else if (matches.length === 0)
      errors.push(`${room.name} may import '${entry}', which is neither a row above nor a file.`)
    for (const match of matches) entry === name ? rooms.add(match) : rooms.delete(match)
  }
  return { rooms, paths, errors }
}

const isInGroup = (room: Room, name: string): boolean =>
  name.endsWith('/*') && pathsOf(room).some((path) => path.startsWith(name.slice(0, -1)))

const BEGIN = '<!-- rooms: written by npm run structure -- --write -->'
const END = '<!-- end of rooms -->'

/** Renders the page with the table between its markers. Errors: a marker is missing. */
export function writeRooms(page: string, rooms: readonly Room[]): string {
  const begin = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`The page needs the lines '${BEGIN}' and '${END}'.`)
  const rows = rooms.map((room) => {
    const names = pathsOf(room).map((path) => `\`${path}\``)
    const imports = room.imports.map(describeImport).join(', ') || 'nothing of ours'
    return `| ${names.join(', ')} | ${room.holds} | ${imports} | ${describeNode(room)} |`
  })
  const table = ['| Room | Holds | May import | `node:` |', '|---|---|---|---|', ...rows].join('\n')
  return `${page.slice(0, begin + BEGIN.length)}\n\n${table}\n\n${page.slice(end)}`
}

/** Renders `!src/runtime` as `not src/runtime`, and the groups in words. */
function describeImport(entry: string): string {
  if (entry === '*') return 'every room above'
  return entry.startsWith('!') ? `not \`${entry.slice(1)}\`` : `\`${entry}\``
}

function describeNode({ node = [], entries = [] }: Room): string {
  if (node === true) return 'yes'
  const places = [...node, ...entries].map((path) => `\`${path}\``)
  return places.length === 0 ? 'no' : `only ${places.join(', ')}`
}
