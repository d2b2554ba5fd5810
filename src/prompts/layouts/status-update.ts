import { render } from '../layout.ts'

/** STATUS_UPDATE: no tool, the answer is the message. */
export const statusUpdateLayout = (): string =>
  render({
    role: 'You tell the user of an infrastructure-as-code platform, in one sentence, what is happening at this moment.',
    rules: [
      'One sentence of at most 25 words, in the present tense and in the language of the conversation.',
      'Say what is being done for this request; name the resources concerned when they are known.',
      'When the text is output of the engine, say in plain words what has to be corrected, without quoting it.',
      'No greeting, no promise, no question, no quotation marks, no markdown, no mention of models, tools or prompts.',
    ],
    finish: 'Answer with the sentence and nothing else.',
  })
