import { chmod, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Tester } from '../../types.ts'

/** Creates a workspace with these files, which a service that runs as another user can use too. */
export async function createWorkspace(tester: Tester, files: Record<string, string> = {}): Promise<string> {
  const parent = tester.options.workspace
  await chmod(parent, 0o755)
  const path = await mkdtemp(join(parent, 'workspace-'))
  await chmod(path, 0o777)
  for (const [name, content] of Object.entries(files)) await writeFile(join(path, name), content)
  return path
}

/** Lists other spellings of the path of a folder. */
export async function listSpellings(path: string): Promise<string[]> {
  const link = `${path}-link`
  await symlink(path, link)
  return [path, `${path}/`, `${path}/.`, link]
}

/** Code with two resources of the provider that every engine contains. */
export const TWO_RESOURCES = `resource "terraform_data" "first" {
  input = "one"
}

resource "terraform_data" "second" {
  input = "two"
}
`
export const BROKEN = 'resource "terraform_data" {\n'
export const UNFORMATTED = 'variable "days" {\n type=number\n      default = 7\n}\n'
export const FORMATTED = 'variable "days" {\n  type    = number\n  default = 7\n}\n'
