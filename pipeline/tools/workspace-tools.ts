import type { Tool } from '../../src/agent/types.ts'
import type { FileAccess } from '../workspace/files/access.ts'
import type { Workspace } from '../workspace/types.ts'
import { deleteFile, replaceInFile, writeToFile } from './edit.ts'
import { bulkGrepSearch, diffHistory, listDir, readFile } from './look.ts'

/** Tools that look and change nothing. */
export const inspectionTools = (access: FileAccess, workspace: Pick<Workspace, 'branchDiff'>): Tool[] => [
  readFile(access),
  listDir(access),
  bulkGrepSearch(access),
  diffHistory(workspace),
]

/** Tools that change files. */
export const fileTools = (access: FileAccess): Tool[] => [
  writeToFile(access),
  replaceInFile(access),
  deleteFile(access),
]
