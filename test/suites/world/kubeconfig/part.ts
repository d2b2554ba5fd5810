import type { Part } from '../part.ts'
import { installPython } from '../tools/python.ts'
import { buildReader, CLIENT_GO } from './reader.ts'

const AWS_CLI = '1.46.3'

export const part: Part = {
  name: 'kubeconfig',
  about: "kubeconfigs and their programs as Kubernetes' own client reads them; the program of EKS",
  ci: true,
  install: async (tools) => {
    const reader = await buildReader(tools)
    const programs = await installPython(`awscli-${AWS_CLI}`, [`awscli==${AWS_CLI}`], tools)
    return {
      version: `client-go ${CLIENT_GO}, AWS command line ${AWS_CLI}`,
      env: { WORLD_KUBECONFIG: reader, WORLD_AWS_CLI: programs },
    }
  },
}
