import * as v from 'valibot'
import { createResultTool } from '../agent/result-tool.ts'
import { fence } from '../prompts/fence.ts'
import { bullets, renderLayout } from '../prompts/layout.ts'
import { defineChain } from './shared/chain.ts'
import { explanation, textList } from './shared/result-fields.ts'

/** Names of resource templates, and lines of the list of abbreviations. */
export interface Selection {
  templates: string[]
  abbreviations: string[]
}

export interface CompositorValues {
  request: string
  /** The first pass chooses from the request, the second completes its choice. */
  pass: { number: 1 } | { number: 2; templates: readonly string[]; abbreviations: readonly string[] }
}

const schema = v.object({
  templates: textList('Names of the resource templates that the request needs, exactly as listed'),
  abbreviations: textList('Lines of the list of abbreviations that the request needs, copied verbatim'),
  explanation: explanation('Why these were chosen'),
})

/** Selects the reference material that the generator needs for a request. */
export const promptCompositor = defineChain({
  name: 'PROMPT_COMPOSITOR',
  role: 'small',
  bodies: (cloud) => ({
    resourcesList: `${cloud}-guidelines-resources_list`,
    abbreviations: `${cloud}-guidelines-abbreviations`,
  }),
  system: ({ resourcesList, abbreviations }, { pass }: CompositorValues) =>
    renderLayout({
      role:
        'You select the reference material that an engineer needs to carry out a request. You write no code and ' +
        'judge no request.',
      rules: [
        'Choose only from the two lists below. Copy names and lines verbatim; never invent one.',
        'Choose a template when the request creates, changes or removes that kind of resource. When in doubt, ' +
          'choose it.',
        'Choose the abbreviation lines of the kinds of resource that will get a name.',
        pass.number === 1
          ? 'Choose for what the request names or plainly means. What those resources depend on is looked at later.'
          : 'A first pass has chosen the entries below. Keep all of them and add what they depend on: networks, ' +
            'subnets, identities, access rules, keys, logs. Stop at what is needed to make the request work.',
        'Nothing fits: report empty lists.',
      ],
      blocks: [
        ['Templates', resourcesList],
        ['Abbreviations', abbreviations],
        ['Chosen by the first pass', pass.number === 1 ? '' : describeFirstPass(pass)],
      ],
      finish: 'Call `construct_information` once with `templates` and `abbreviations`.',
    }),
  query: ({ request }) => `Select the reference material for this request.\n\n${fence('request', request)}`,
  seesConversation: true,
  tools: () => [],
  resultTool: () =>
    createResultTool({
      name: 'construct_information',
      description: 'Report the templates and abbreviations that the request needs.',
      schema,
    }),
  read: ({ templates, abbreviations }): Selection => ({ templates, abbreviations }),
})

const describeFirstPass = ({ templates, abbreviations }: Extract<CompositorValues['pass'], { number: 2 }>) =>
  fence('choice of the first pass', `Templates:\n${bullets(templates)}\nAbbreviations:\n${bullets(abbreviations)}`)
