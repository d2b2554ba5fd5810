import { fence } from '../fence.ts'
import { bullets, render } from '../layout.ts'

export interface PromptCompositorValues {
  /** Body of `<cloud>-guidelines-resources_list`. */
  resources_list: string
  /** Body of `<cloud>-guidelines-abbreviations`. */
  abbreviations: string
  /** First pass: chosen from the request. Second pass: completes the first pass's choice. */
  pass: { number: 1 } | { number: 2; templates: readonly string[]; abbreviations: readonly string[] }
}

/** PROMPT_COMPOSITOR, sentinel `construct_information`. */
export const promptCompositorLayout = ({ resources_list, abbreviations, pass }: PromptCompositorValues): string =>
  render({
    role: 'You select the reference material that an engineer needs to carry out a request. You write no code and judge no request.',
    rules: [
      'Choose only from the two lists below. Copy names and lines verbatim; never invent one.',
      'Choose a template when the request creates, changes or removes that kind of resource. When in doubt, choose it.',
      'Choose the abbreviation lines of the kinds of resource that will get a name.',
      pass.number === 1
        ? 'Choose for what the request names or plainly means. What those resources depend on is looked at later.'
        : 'A first pass has chosen the entries below. Keep all of them and add what they depend on: networks, subnets, identities, ' +
          'access rules, keys, logs. Stop at what is needed to make the request work.',
      'Nothing fits: report empty lists.',
    ],
    blocks: [
      ['Templates', resources_list],
      ['Abbreviations', abbreviations],
      ['Chosen by the first pass', pass.number === 1 ? '' : firstPass(pass)],
    ],
    finish: 'Call `construct_information` once with `templates` and `abbreviations`.',
  })

const firstPass = ({ templates, abbreviations }: { templates: readonly string[]; abbreviations: readonly string[] }) =>
  fence('choice of the first pass', `Templates:\n${bullets(templates)}\nAbbreviations:\n${bullets(abbreviations)}`)
