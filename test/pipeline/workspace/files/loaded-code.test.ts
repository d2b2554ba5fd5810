import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { findLoadedCode, isReferred } from '../../../../pipeline/workspace/files/loaded-code.ts'
import { useFolder } from '../../../helpers/folder.ts'

const folder = useFolder(beforeEach)

const FILES = {
  'live/main.tf': `module "shared" {
  source = "../modules/x"
}
module "away" {
  source = "git::https://example.com/m.git"
}
locals {
  page = templatefile("\${path.module}/pages/index.tpl", {})
  all  = file("\${path.module}/\${var.name}")
}
`,
  'live/other/main.tf': 'resource "a" "b" {}',
  'modules/x/main.tf.json': '{"module": {"up": {"source": "../y"}, "loop": {"source": "../x"}}}',
  'modules/y/main.tf': 'variable "a" {}',
  'common/variables.tf': 'variable "name" {}',
}

async function write(files: Record<string, string>) {
  const clone = folder.path
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(clone, path)), { recursive: true })
    await writeFile(join(clone, path), text)
  }
  return { clone, iacRoot: join(clone, 'live') }
}

it('follows local sources out of the root, links and named files', async () => {
  const place = await write(FILES)
  await symlink('../common/variables.tf', join(place.iacRoot, 'variables.tf'))
  const loaded = await findLoadedCode(place, 'terraform')
  expect(loaded).toMatchObject({ root: 'live', isWhole: true })
  expect([...loaded.files].sort()).toEqual([
    'common/variables.tf',
    'live/main.tf',
    'modules/x/main.tf.json',
    'modules/y/main.tf',
  ])
  expect(['live/pages/index.tpl', 'live/other/main.tf'].map((path) => isReferred(loaded, path))).toEqual([true, false])
})

it('knows that it does not know the module of a source that is an expression', async () => {
  const place = await write({ 'live/main.tf': `module "a" {\n  source = "./\${var.kind}"\n}\n` })
  expect(await findLoadedCode(place, 'opentofu')).toMatchObject({ isWhole: false })
})
