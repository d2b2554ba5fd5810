import * as v from 'valibot'
import { createResultTool } from '../result-tool.ts'
import { ending, told } from './fields.ts'

const schema = v.object({
  status: ending('done, or what is left'),
  summary: told('Which resources were matched and which were not'),
  imports: v.pipe(
    v.array(
      v.object({ address: told('Address of the resource block'), resource_id: told('Identifier as given, unchanged') }),
    ),
    v.description('One entry per resource that has a block'),
  ),
})

/** Ends IMPORT_ADDRESSES. */
export const importAddressesTool = () =>
  createResultTool({
    name: 'import_addresses',
    description: 'Report the address of each resource that is to be imported.',
    schema,
  })
