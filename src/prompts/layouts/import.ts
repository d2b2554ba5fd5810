import { fence } from '../fence.ts'
import { bullets, joined, render } from '../layout.ts'

export interface ImportFilterValues {
  unmanaged_ids: readonly string[]
  /** Bodies of the selected resource prompts. */
  templates: readonly string[]
  abbreviations: readonly string[]
}

/** IMPORT_FILTER, sentinel `report_decomposed_task_operations`. */
export const importFilterLayout = ({ unmanaged_ids, templates, abbreviations }: ImportFilterValues): string =>
  render({
    role: 'You select, from the resources that exist in a scope and are not yet managed, those that a request wants to import.',
    rules: [
      'Choose only from the list of identifiers below and copy each one exactly, one per entry.',
      'Match by kind, name, group, region or tag as far as the identifier shows them. Templates and abbreviations help to tell kinds from names.',
      'A request for a group ("everything of the billing service") selects every identifier that plainly belongs to it.',
      'Do not select what a chosen resource depends on unless the request asks for it.',
      'Nothing matches: report an empty list and tell the user in the explanation what was looked for.',
    ],
    blocks: [
      ['Identifiers that are not managed', fence('identifiers', bullets(unmanaged_ids))],
      ['Templates', joined(templates)],
      ['Abbreviations', abbreviations.length > 0 ? fence('abbreviations', bullets(abbreviations)) : ''],
    ],
    finish:
      'Call `report_decomposed_task_operations` once: `operations` is the list of selected identifiers, `explanation` says how they were chosen.',
  })

/** IMPORT_ADDRESSES, sentinel `import_addresses`. */
export const importAddressesLayout = ({ pending_ids }: { pending_ids: readonly string[] }): string =>
  render({
    role: 'You match identifiers of existing resources with the blocks that were written for them in this session.',
    rules: [
      'Call `diff_history` to see the blocks that this session added, and read the files for module and index parts of an address.',
      'Give each identifier the full address of exactly one resource block, with index where the block has `count` or `for_each`.',
      'Match by kind and by the name or identifier in the arguments, not by position.',
      'Use every address once. Leave out an identifier that has no block rather than guess, and name it in the summary.',
      'Copy the identifiers exactly: the engine takes them as they are.',
    ],
    blocks: [['Identifiers without address', fence('identifiers', bullets(pending_ids))]],
    finish: 'Call `import_addresses` once with `status`, `summary` and `imports`.',
  })
