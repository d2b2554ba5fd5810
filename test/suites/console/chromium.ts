import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']

/** Returns the path of the browser. Errors: none is installed. */
export async function findChromium(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const candidates = env.CHROMIUM
    ? [env.CHROMIUM]
    : (env.PATH ?? '').split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)))
  for (const path of candidates) {
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (found) return path
  }
  throw new Error(
    'There is no Chromium on PATH. Install it (Debian: apt-get install chromium), or name it in CHROMIUM.',
  )
}
