import { expect, it } from 'vitest'
import { bullets } from '../../src/prompts/layout.ts'

it('writes one bullet an item, also for items that bring one', () => {
  expect(bullets(['aws_vpc: vpc', '- aws_subnet: snet', '* x', ' -  y', '-z', '*.tf', 'a - b'])).toBe(
    '- aws_vpc: vpc\n- aws_subnet: snet\n- x\n- y\n- -z\n- *.tf\n- a - b',
  )
})
