import { describe, expect, it } from 'vitest'
import { readTargetingFault, reservedTargets } from '../../../src/plan/targets.ts'

const DETAIL = `Resource instances in your current state have moved to new addresses in the
latest configuration. Terraform must include those resource instances while
planning in order to ensure a correct result, but your -target=... options do
not fully cover all of those resource instances.

To create a valid plan, either remove your -target=... options altogether or
add the following additional target options:
  -target="terraform_data.a"
  -target="module.m[\\"k\\"].terraform_data.b"

Note that adding these options may include further additional resource
instances in your plan, in order to respect object dependencies.`
const MOVED = `\nError: Moved resource instances excluded by targeting\n\n${DETAIL}\n`
const framed = (text: string) => `╷\n${text.trim().replaceAll(/^/gm, '│ ')}\n╵\n`
const WARNING = '\nWarning: Resource targeting is in effect\n\nYou are creating a plan with the -target option.\n'

describe('readTargetingFault', () => {
  it.each([
    ['plain', MOVED],
    ['framed', framed(MOVED)],
    ['after a warning', WARNING + MOVED],
    ['of OpenTofu', MOVED.replace('Terraform must', 'OpenTofu must')],
    ['with carriage returns', MOVED.replaceAll('\n', '\r\n')],
  ])('reads the addresses that are missing: %s', (_, text) => {
    expect(readTargetingFault(text)).toEqual({
      missing: ['terraform_data.a', 'module.m["k"].terraform_data.b'],
      invalid: [],
    })
  })

  it('reads targets that are no addresses', () => {
    const invalid = (address: string) =>
      `\nError: Invalid target ${JSON.stringify(address)}\n\nThe keyword is reserved.\n`
    expect(readTargetingFault(invalid('var.x') + invalid('module.m["k"].x'))).toEqual({
      missing: [],
      invalid: ['var.x', 'module.m["k"].x'],
    })
  })

  it.each([
    ['another error', '\nError: Invalid value\n\n  on main.tf line 1:\n\nNo.\n'],
    ['another error beside it', `${MOVED}\nError: Cycle: a, b\n`],
    ['a warning alone', WARNING],
    ['nothing', ''],
  ])('is null for %s', (_, text) => {
    expect(readTargetingFault(text)).toBeNull()
  })
})

describe('reservedTargets', () => {
  it('names what no engine could plan, also in modules, and nothing else', () => {
    const reserved = ['var.x', 'local.y', 'module.a.module.b["k.v"].var.z', 'each.value', 'path.module']
    const addresses = ['local_file.x', 'variable.x', 'module.var', 'data.local_file.y', 'module.local.aws_vpc.main']
    expect(reservedTargets([...reserved, ...addresses])).toEqual(reserved)
  })
})
