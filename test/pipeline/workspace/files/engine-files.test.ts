import { describe, expect, it } from 'vitest'
import { isHidden, isNeverPushed } from '../../../../pipeline/workspace/files/engine-files.ts'

const paths = {
  upload_folder: '/uploads',
  git_folder: '',
  session_plan_filename: 'review.out',
  backend_override_filename: 'a.b_override.tf',
}

describe('what is never pushed', () => {
  it.each([
    'review.out',
    'live/Review.OUT',
    'a.b_override.tf',
    'whole-root-1234.plan',
    'terraform.tfstate',
    'x.TFSTATE.backup',
    '.terraform.tfstate.lock.info',
    'errored.tfstate',
    'live/.terraform/modules/modules.json',
    '.Terraform',
    'crash.log',
    'crash.2026.log',
    '.platform-masks.json',
    '.platform-workspace',
    'review.out/inside',
  ])('%s', (path) => expect(isNeverPushed(paths, path)).toBe(true))

  it.each([
    'main.tf',
    '.terraform.lock.hcl',
    'axb_override.tf',
    'plan.tf',
    'crash.logs',
    'terraform.d/x',
    'tfstate',
  ])('%s is', (path) => expect(isNeverPushed(paths, path)).toBe(false))
})

it("shows tools modules in the engine's folder, but nothing that holds secrets", () => {
  expect(isHidden(paths, '.terraform')).toBe(false)
  for (const name of ['.git', '.GIT', 'review.out', 'crash.log', '.platform-masks.json', '.platform-workspace'])
    expect(isHidden(paths, name)).toBe(true)
})
