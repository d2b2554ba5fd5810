import * as v from 'valibot'
import { createResultTool } from '../agent/result-tool.ts'
import { cutEnd } from '../base/text.ts'
import { fence, LANGUAGE_RULE, renderLayout } from '../prompts/layout.ts'
import { defineChain } from './shared/chain.ts'
import { requiredText } from './shared/result-fields.ts'

/** Maximum characters of the title of a pull request. */
export const MAX_TITLE = 256

const schema = v.object({
  title: v.pipe(
    v.string(),
    v.transform((title) => cutEnd(title.trim().replaceAll(/\s+/g, ' '), MAX_TITLE)),
    requiredText('One line that says what the change does'),
  ),
  description: requiredText('The summary: what changes and why, as prose'),
})

interface PullRequestValues {
  firstRequest: string
  /** The record of the rounds; empty when it adds nothing to the conversation. */
  record: string
}

/** Writes title and summary of a pull request. Code adds the record of the session. */
export const pullRequestText = defineChain({
  name: 'PR_GENERATOR',
  role: 'small',
  system: (_, { record }: PullRequestValues) =>
    renderLayout({
      role: 'You write title and summary of a pull request from the conversation of the session that made it.',
      rules: [
        'Title: one line in the imperative, at most 72 characters, what changes; no prefix, full stop or quotation marks.',
        '`description`: one to three short paragraphs on what changes and why, then a list with `-` only if several things ' +
          'change.',
        'Code adds plan, impact, findings, cost, assumptions, roll-back and the link to the session: nothing about them.',
        'No headings, tables, links, images, HTML, mentions or issue numbers. Names of resources and files in backticks.',
        'The outcome of all rounds, not what was tried and replaced or declined; nothing that code found missing as done.',
        `Only what the conversation ${record ? 'and the record of its rounds say' : 'says'}: no invented test results, ` +
          'tickets, approvals or links, no secrets, tokens or personal data.',
        LANGUAGE_RULE,
      ],
      finish: 'Call `generate_pull_request` once.',
    }),
  query: ({ firstRequest, record }: PullRequestValues) =>
    'Write title and summary of the pull request for this session. It began with this ' +
    `request:\n${fence('first request', firstRequest)}${
      record && `\nWhat its rounds did, on record:\n${fence('rounds', record)}`
    }`,
  seesConversation: true,
  resultTool: () =>
    createResultTool({
      name: 'generate_pull_request',
      description: 'Report title and summary of the pull request.',
      schema,
    }),
  read: ({ title, description }) => ({ title, summary: description }),
})
