import * as v from 'valibot'
import { createResultTool } from '../agent/result-tool.ts'
import { bullets, fence, renderLayout } from '../prompts/layout.ts'
import { defineChain } from './shared/chain.ts'
import { explanation, textList } from './shared/result-fields.ts'

export interface CompositorValues {
  request: string
  /** The pass: the first selects from the request, the second adds dependencies of that selection. */
  pass: { number: 1 } | { number: 2; templates: readonly string[]; abbreviations: readonly string[] }
}

const schema = v.object({
  templates: textList('Names of the resource templates that are needed, exactly as listed'),
  abbreviations: textList('Lines of the list of abbreviations that are needed, copied verbatim'),
  explanation: explanation('Why these were chosen'),
})

/** Names of resource templates, and lines of the list of abbreviations. */
export type Selection = Omit<v.InferOutput<typeof schema>, 'explanation'>

/** Selects the reference material that the generator needs for a request. */
export const promptCompositor = defineChain({
  name: 'PROMPT_COMPOSITOR',
  role: 'small',
  bodies: (cloud) => ({
    resourcesList: `${cloud}-guidelines-resources_list`,
    abbreviations: `${cloud}-guidelines-abbreviations`,
  }),
  /** The same for both passes, for the provider's cache. */
  system: ({ resourcesList, abbreviations }, _: CompositorValues) =>
    renderLayout({
      role:
        'You select the reference material that an engineer needs to carry out a request. You write no code and ' +
        'judge no request.',
      rules: [
        'Choose only from the lists below. Copy names and lines verbatim.',
        'Choose a template when the request creates that kind of resource or changes how it is set up.',
        'Choose the abbreviation lines of the kinds of resource that will get a new name.',
        'Nothing fits: report empty lists.',
      ],
      blocks: [
        ['Templates', resourcesList],
        ['Abbreviations', abbreviations],
      ],
      finish: 'Call `construct_information` once with `templates` and `abbreviations`.',
    }),
  query: ({ request, pass }) =>
    pass.number === 1
      ? 'Select the reference material for what this request names or plainly means. What your choice depends on is ' +
        'added later; only where no template fits what is named, choose those of what it will need, such as a ' +
        `network.\n\n${fence('request', request)}`
      : 'A first choice was made for this request and stays. Select only what has to be added so that the chosen ' +
        'resources work: networks, subnets, identities, access rules, keys, ' +
        `logs.\n\n${fence('request', request)}\n\n${describeFirstPass(pass)}`,
  seesConversation: true,
  resultTool: () =>
    createResultTool({
      name: 'construct_information',
      description: 'Report the templates and abbreviations that are needed.',
      schema,
    }),
  read: ({ templates, abbreviations }): Selection => ({ templates, abbreviations }),
})

function describeFirstPass({ templates, abbreviations }: Extract<CompositorValues['pass'], { number: 2 }>): string {
  const parts = [
    templates.length > 0 ? `Templates:\n${bullets(templates)}` : '',
    abbreviations.length > 0 ? `Abbreviations:\n${bullets(abbreviations)}` : '',
  ]
  return fence('first choice', parts.filter(Boolean).join('\n'))
}
