import type { Part } from '../part.ts'
import { buildReader, SDK } from './reader.ts'

export const part: Part = {
  name: 'oci',
  about: "credentials for OCI as the vendor's own client finds them",
  ci: true,
  install: async (tools) => ({ version: `oci-go-sdk ${SDK}`, env: { WORLD_OCI: await buildReader(tools) } }),
}
