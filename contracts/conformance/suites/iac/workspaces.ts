import { chmod, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Tester } from '../../types.ts'

/** A folder for engine jobs with these files; the service may run as another user. */
export async function newWorkspace(tester: Tester, files: Record<string, string> = {}): Promise<string> {
  const parent = tester.options.workspace
  await chmod(parent, 0o755)
  const path = await mkdtemp(join(parent, 'workspace-'))
  await chmod(path, 0o777)
  for (const [name, content] of Object.entries(files)) await writeFile(join(path, name), content)
  return path
}

/** Other names of the same folder. */
export async function spellings(path: string): Promise<string[]> {
  const link = `${path}-link`
  await symlink(path, link)
  return [path, `${path}/`, `${path}/.`, link]
}

/** Two resources of the provider that every engine brings. */
export const TWO_RESOURCES = `resource "terraform_data" "first" {
  input = "one"
}

resource "terraform_data" "second" {
  input = "two"
}
`
export const BROKEN = 'resource "terraform_data" {\n'
