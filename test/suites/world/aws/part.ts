import { type Part, Unavailable } from '../part.ts'
import { installMoto, MOTO } from './moto.ts'
import { installAwsProvider, PROVIDER } from './provider.ts'

export const part: Part = {
  name: 'aws',
  about: 'AWS as moto plays it, with the real provider for AWS where it can be had',
  ci: false,
  install: async (tools) => {
    const programs = await installMoto(tools)
    const provider = await installAwsProvider(tools).catch((error: unknown) => {
      if (!(error instanceof Unavailable)) throw error
      tools.say(`SKIPPED: all checks with the provider: ${error.message}`)
      return null
    })
    return {
      version: `moto ${MOTO}, ${provider ? `provider ${PROVIDER}${provider.note}` : 'no provider'}`,
      env: { WORLD_MOTO: programs, WORLD_AWS_MIRROR: provider?.mirror ?? '' },
    }
  },
}
