import { fence, joinParts, LANGUAGE_RULE, renderLayout } from '../prompts/layout.ts'
import { defineTextChain } from './shared/chain.ts'

/** Summarises the current activity in one sentence for the user. */
export const statusUpdate = defineTextChain({
  name: 'STATUS_UPDATE',
  role: 'small',
  system: () =>
    renderLayout({
      role: 'You tell the user of an infrastructure-as-code platform in one sentence what it is working on.',
      rules: [
        'At most 25 words, in the present tense: what the work is about, not which step is running, with the names of the ' +
          'resources.',
        'Of engine output, say in plain words what has to be corrected; do not quote it.',
        'No greeting, promise, question, quotation marks, markdown, models, tools or prompts.',
        LANGUAGE_RULE,
      ],
      finish: 'Answer with the sentence alone.',
    }),
  /** @param values.request the request of the round, for its language and names */
  query: ({ text, request }: { text: string; request: string }) =>
    joinParts(
      request !== text && `The request of the user:\n${fence('request', request)}`,
      `Put this into one sentence for the user.\n\n${fence('status', text)}`,
    ),
  seesConversation: true,
})
