import * as v from 'valibot'
import { createResultTool } from '../result-tool.ts'
import { ending, told } from './fields.ts'

const schema = v.object({
  status: ending('done, or what is left'),
  summary: told('What was changed, in one short paragraph'),
})

/** Ends IAC_GENERATOR. */
export const taskCompleteTool = () =>
  createResultTool({
    name: 'task_complete',
    description: 'Report that all files are written and what they now do.',
    schema,
  })
