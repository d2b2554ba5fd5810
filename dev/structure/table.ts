import type { Room } from './rooms.ts'

/** A table of rooms that was read and can be asked. */
export interface Table {
  rooms: readonly Room[]
  /** Name of the room that a path belongs to, or null. */
  roomOf(path: string): string | null
  /** Position in the table, from 0 for the room that may import nothing of ours. */
  rankOf(name: string): number
  /** Names of the rooms that a room may import as a whole. */
  allowedRooms(name: string): ReadonlySet<string>
  /** Files and folders of other rooms that a room may import beside `allowedRooms`. */
  allowedPaths(name: string): readonly string[]
  /** Whether a file of the room may import the file. Files at the root are only for rooms that may import `*`. */
  allows(name: string, target: string): boolean
  /** What is wrong with the table itself, as sentences. */
  errors: string[]
}

export const pathsOf = (room: Room): readonly string[] => room.paths ?? [room.name]

/** Whether a path of the table is one file; all others are folders. */
export const isFile = (path: string): boolean => /\.tsx?$/.test(path)

export const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)

/** Settings of tools lie at the root; they belong to no room. */
export const isAtRoot = (path: string): boolean => !path.includes('/')

/** The first part of a path: `src`, `pipeline`, `dev` */
export const areaOf = (path: string): string => path.split('/', 1)[0] ?? path

/** Whether the room keeps only the files directly in its folder, because other rooms are folders inside. */
export function isShallow(room: Room, rooms: readonly Room[]): boolean {
  return rooms.some((inner) =>
    pathsOf(inner).some((path) => !isFile(path) && path !== room.name && isWithin(path, room.name)),
  )
}

/** @param files all files of the house; the rows must fit them */
export function readTable(rooms: readonly Room[], files: readonly string[]): Table {
  const errors: string[] = []
  const names = new Map(rooms.map((room, rank) => [room.name, rank]))
  if (names.size < rooms.length) errors.push('Two rows of the table have the same name.')
  const rankOf = (name: string) => names.get(name) ?? -1
  const roomOf = createRoomFinder(rooms)
  const allowed = new Map<string, { rooms: ReadonlySet<string>; paths: readonly string[] }>()
  for (const [rank, room] of rooms.entries()) {
    const grant = readImports(room, rooms.slice(0, rank), files)
    allowed.set(room.name, grant)
    errors.push(...grant.errors)
    if (!files.some((file) => roomOf(file) === room.name)) errors.push(`${room.name} holds no file.`)
  }
  const allowedRooms = (name: string) => allowed.get(name)?.rooms ?? new Set<string>()
  const allowedPaths = (name: string) => allowed.get(name)?.paths ?? []
  const importsAll = (name: string) => rooms.some((room) => room.name === name && room.imports.includes('*'))
  const allows = (name: string, target: string) => {
    const owner = roomOf(target)
    if (owner === name) return true
    if (isAtRoot(target)) return importsAll(name)
    return (
      (owner !== null && allowedRooms(name).has(owner)) || allowedPaths(name).some((path) => isWithin(target, path))
    )
  }
  return { rooms, roomOf, rankOf, allowedRooms, allowedPaths, allows, errors }
}

/** The row with the longest path decides, so a file may be a room inside the folder of another room. */
function createRoomFinder(rooms: readonly Room[]): (path: string) => string | null {
  const entries = rooms
    .flatMap((room) =>
      pathsOf(room).map((path) => ({ path, room: room.name, shallow: !isFile(path) && isShallow(room, rooms) })),
    )
    .sort((a, b) => b.path.length - a.path.length)
  return (path) => {
    const entry = entries.find((candidate) => isWithin(path, candidate.path))
    if (!entry) return null
    return entry.shallow && path.slice(entry.path.length + 1).includes('/') ? null : entry.room
  }
}

function readImports(room: Room, before: readonly Room[], files: readonly string[]) {
  const errors: string[] = []
  const rooms = new Set<string>()
  const paths: string[] = []
  for (const entry of room.imports) {
    const name = entry.replace(/^!/, '')
    const matches = before.filter((other) => name === '*' || other.name === name || isInGroup(other, name))
    const isPath = !entry.startsWith('!') && matches.length === 0 && files.some((file) => isWithin(file, name))
    if (isPath) paths.push(name)
    else if (matches.length === 0)
      errors.push(`${room.name} may import '${entry}', but no room before it has that name, and there is no such file.`)
    for (const { name: match } of matches) entry.startsWith('!') ? rooms.delete(match) : rooms.add(match)
  }
  return { rooms, paths, errors }
}

const isInGroup = (room: Room, name: string): boolean =>
  name.endsWith('/*') && pathsOf(room).some((path) => path.startsWith(name.slice(0, -1)))

/**
 * Rooms by folder alone, for a checkout that the table does not describe: each folder and each file directly in `src`,
 * each folder in `pipeline` and `sidecars` with their own files as one room more, and everything else by its first
 * folder.
 */
export function roomByFolder(path: string): string {
  const [area = path, inner = '', ...rest] = path.split('/')
  if (area === 'src') return `${area}/${inner}`
  return (area === 'pipeline' || area === 'sidecars') && rest.length > 0 ? `${area}/${inner}` : area
}
