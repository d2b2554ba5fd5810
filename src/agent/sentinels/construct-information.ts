import * as v from 'valibot'
import { createResultTool } from '../result-tool.ts'
import { explanation, strings } from './fields.ts'

const schema = v.object({
  templates: strings('Names of the resource templates that the request needs, exactly as listed'),
  abbreviations: strings('Lines of the list of abbreviations that the request needs, copied verbatim'),
  explanation: explanation('Why these were chosen'),
})

/** Ends PROMPT_COMPOSITOR. */
export const constructInformationTool = () =>
  createResultTool({
    name: 'construct_information',
    description: 'Report the templates and abbreviations that the request needs.',
    schema,
  })
