import { describe, expect, it } from 'vitest'
import { fittingAbbreviations, fittingTemplates, templateNames } from '../../../src/chains/shared/catalogue.ts'

const LIST = [
  '# Templates',
  '',
  'Choose well.',
  '- `s3_bucket`: object storage',
  '  with all that belongs to it',
  '- `azure_store`: an `azurerm_storage_account`',
  '* Our own landing zone',
  '',
  'The end.',
].join('\n')

describe('a catalogue of templates', () => {
  it('keeps the entries of providers in play, what is no entry, and what tells no provider', () => {
    expect(fittingTemplates(LIST, 'aws', new Set(['aws']))).toEqual({
      text: LIST.replace('- `azure_store`: an `azurerm_storage_account`\n', ''),
      names: ['s3_bucket', null],
      wasEmptied: false,
    })
    expect(fittingTemplates(LIST, 'aws', new Set(['terraform'])).text).toBe(
      '# Templates\n\nChoose well.\n* Our own landing zone\n\nThe end.',
    )
  })

  it('is emptied when none of its entries is in play', () => {
    const known = '- `s3_bucket`: object storage\n- `sqs_queue`: queues\n'
    expect(fittingTemplates(known, 'aws', new Set(['terraform']))).toEqual({ text: '', names: [], wasEmptied: true })
  })

  it.each([
    ['prose', 'Ask the platform team for templates.'],
    ['a table', '| Template | Use |\n|---|---|\n| bucket | storage |'],
    ['nothing', ''],
    ['rules', '---\n**Bold**\n---'],
  ])('of another form stays as it is: %s', (_, list) => {
    expect(fittingTemplates(list, 'aws', new Set(['terraform']))).toMatchObject({ text: list, wasEmptied: false })
  })

  it('names its entries', () => {
    expect(templateNames(LIST)).toEqual(['s3_bucket', 'azure_store'])
    expect(templateNames('1. `a`: x\n2. `b`: y\n| `c` | z |')).toEqual(['a', 'b', 'c'])
  })
})

it('leaves out abbreviations of providers that are not in play', () => {
  const list = '# Names\n\nForm: `<a>-<b>`.\n\n- aws_vpc: vpc\n- azurerm_subnet: snet\n- project: prj'
  expect(fittingAbbreviations(list, new Set(['azurerm']))).toEqual({
    text: '# Names\n\nForm: `<a>-<b>`.\n\n- azurerm_subnet: snet\n- project: prj',
    names: ['azurerm_subnet: snet', null],
    wasEmptied: false,
  })
})
