import * as v from 'valibot'
import { createResultTool } from '../result-tool.ts'
import { told } from './fields.ts'

const MAX_TITLE = 256

const schema = v.object({
  title: v.pipe(
    v.string(),
    v.transform((title) => title.trim().replaceAll(/\s+/g, ' ').slice(0, MAX_TITLE)),
    told('One line that says what the change does'),
  ),
  description: told('The summary: what changes and why, as prose'),
})

/** Ends PR_GENERATOR. The title is one line of at most 256 characters. */
export const pullRequestTool = () =>
  createResultTool({
    name: 'generate_pull_request',
    description: 'Report title and summary of the pull request.',
    schema,
  })
