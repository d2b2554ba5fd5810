import { posix } from 'node:path'
import type { ParsedFile } from './parse.ts'
import { isAtRoot, type Table } from './table.ts'

/** An import that the table forbids. */
export interface Violation {
  file: string
  line: number
  /** What is imported: a path from the root, or a `node:` module. */
  target: string
  from: string
  /** Null for `node:` and for files at the root. */
  to: string | null
  /** `upward`: the room stands after the importing one. `forbidden`: it stands before, but its row does not name it. */
  reason: 'node' | 'upward' | 'forbidden'
}

/** Every import of the files that crosses a border of the table. Files outside all rooms are not looked at. */
export function findViolations(files: readonly ParsedFile[], table: Table): Violation[] {
  return files.flatMap((file) => {
    const from = table.roomOf(file.path)
    const room = table.rooms.find(({ name }) => name === from)
    if (!room) return []
    return file.imports.flatMap(({ specifier, target, line }): Violation[] => {
      const at = { file: file.path, line, from: room.name }
      if (target === null)
        return specifier.startsWith('node:') && !room.node
          ? [{ ...at, target: specifier, to: null, reason: 'node' }]
          : []
      const to = table.roomOf(target)
      const isHomeless = to === null && !isAtRoot(target)
      if (isHomeless || table.allows(room.name, target)) return []
      const reason = to !== null && table.rankOf(to) > table.rankOf(room.name) ? 'upward' : 'forbidden'
      return [{ ...at, target, to, reason }]
    })
  })
}

/** Files below the folders of the table that belong to no room, one sentence for each folder. */
export function findHomeless(paths: readonly string[], table: Table): string[] {
  const homeless = paths.filter((path) => table.roomOf(path) === null)
  const folders = Map.groupBy(homeless, posix.dirname)
  return [...folders].map(([folder, files]) => `${folder} is in no room of the table (${files.length} files).`)
}

/** Rooms that a row names one by one and that nothing in it imports. */
export function findUnused(files: readonly ParsedFile[], table: Table): { from: string; to: string }[] {
  const used = new Set<string>()
  for (const file of files)
    for (const { target } of file.imports)
      if (target !== null) used.add(`${table.roomOf(file.path)} ${table.roomOf(target)}`)
  return table.rooms.flatMap(({ name, imports }) =>
    imports.filter((to) => table.rankOf(to) >= 0 && !used.has(`${name} ${to}`)).map((to) => ({ from: name, to })),
  )
}
