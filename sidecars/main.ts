/** `npm run sidecar -- <name>`: each service configures itself from the environment. */
const SIDECARS: Record<string, { summary: string; load: () => Promise<{ main: () => Promise<void> }> }> = {
  iac: { summary: 'runs the infrastructure-as-code engine as jobs (docs/sidecars.md)', load: () => import('./iac/main.ts') },
  authz: { summary: 'answers whether a user may operate on a cloud resource', load: () => import('./authz/main.ts') },
  notifications: { summary: 'delivers notifications to a chat, by e-mail or to a webhook', load: () => import('./notifications/main.ts') },
  mapping: { summary: 'resolves a repository identifier to address, cloud and scope', load: () => import('./mapping/main.ts') },
}

const usage = [
  'Usage: npm run sidecar -- <name>',
  '',
  ...Object.entries(SIDECARS).map(([name, { summary }]) => `  ${name.padEnd(13)}  ${summary}`),
].join('\n')

const [name, ...rest] = process.argv.slice(2)
if (name === '--help' || name === '-h' || rest.includes('--help') || rest.includes('-h')) console.log(usage)
else {
  const sidecar = name !== undefined && Object.hasOwn(SIDECARS, name) ? SIDECARS[name] : undefined
  if (sidecar && rest.length === 0) await (await sidecar.load()).main()
  else {
    console.error(usage)
    process.exitCode = 2
  }
}
