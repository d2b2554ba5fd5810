import { join } from 'node:path'
import { findChromium } from '../../console/chromium.ts'
import type { Command, Part, Tools } from '../part.ts'
import { buildGo, readModule } from '../tools/go.ts'

const LIBRARY = '3.51.17'
/** Has no released version that Go can name. */
const DEX = 'ab64ed778070'

const TOKENS: Command = {
  title: 'tokens',
  kind: 'vitest',
  args: ['--project', 'world'],
  env: { WORLD_PART: 'oidc' },
}
const BROWSER: Command = {
  title: 'the sign-in of the console in a browser',
  kind: 'node',
  args: ['test/suites/world/oidc/browser.ts'],
}

/** A provider of an OpenID library in Go, certified like the one from npm that the ordinary tests use; and Dex. */
export const part: Part = {
  name: 'oidc',
  about: 'sign-in at an OpenID provider in Go (code flow with PKCE, refresh, rotation, another audience) and at Dex',
  ci: true,
  install: async (tools) => {
    const { files, mark } = await readModule(join(import.meta.dirname, 'server'))
    const program = await buildGo(
      { name: 'oidc-issuer', version: `${LIBRARY}-${mark}`, source: { files }, package: '.', minutes: 10 },
      tools,
    )
    const dex = tools.ci ? null : await buildDex(tools)
    if (dex === null) tools.say('SKIPPED: Dex: the short form does not build it')
    const browser = await findChromium().then(
      () => [BROWSER],
      () => {
        tools.say('SKIPPED: the sign-in in a browser: there is no Chromium on PATH')
        return []
      },
    )
    return {
      version: `zitadel/oidc ${LIBRARY}${dex === null ? '' : `, Dex ${DEX}`}`,
      env: { SIGN_IN_ISSUER: program, ...(dex !== null && { DEX: dex }) },
      commands: [TOKENS, ...browser],
    }
  },
}

async function buildDex(tools: Tools): Promise<string> {
  const { files, mark } = await readModule(join(import.meta.dirname, 'dex'))
  const version = `${DEX}-${mark}`
  return buildGo(
    { name: 'dex', version, source: { files }, package: 'github.com/dexidp/dex/cmd/dex', minutes: 30 },
    tools,
  )
}
