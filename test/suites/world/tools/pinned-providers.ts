import { output } from './command.ts'
import type { Provider } from './providers.ts'

const REPLACED = [
  'google.golang.org/genproto@v0.0.0-20260217215200-42d3e9bedb6d',
  'golang.org/x/lint@v0.0.0-20210508222113-6edffad5e616',
  'golang.org/x/time@v0.16.0',
]
const replacing = (version: string) => `-replace=${version.split('@')[0]}=${version}`

/**
 * Small providers, by name. The proxy of Go has the modules of some at the commit of their release, under the name that
 * they had before version 2; the others come from a registry or not at all. The public list of checksums does not have
 * every such commit, so their checksums are here.
 */
export const SMALL: Record<string, Provider> = {
  archive: { name: 'archive', version: '2.8.0' },
  /** Of no cloud of the contract. Its last version that the proxy of Go has under this name. */
  cloudflare: {
    namespace: 'cloudflare',
    name: 'cloudflare',
    version: '1.18.1',
    source: { module: 'github.com/cloudflare/terraform-provider-cloudflare', version: 'v1.18.1' },
    // The proxy does not have the commits that it names of these.
    build: { prepare: (cwd) => output('go', ['mod', 'edit', ...REPLACED.map(replacing)], { cwd }) },
  },
  http: { name: 'http', version: '3.6.0' },
  local: {
    name: 'local',
    version: '2.9.0',
    source: {
      module: 'github.com/terraform-providers/terraform-provider-local',
      version: 'v1.4.1-0.20260513075820-3561e410f9fe',
      sum: {
        zip: 'h1:AjPTzPsYSsLk2CyPtl3S5a9vrUo/kn3IlhfIIouSzSw=',
        mod: 'h1:G460bLMMyClGw9lEzkIheALPrsUKPhC2CIhxfnDuruE=',
      },
    },
  },
  null: { name: 'null', version: '3.3.1' },
  random: {
    name: 'random',
    version: '3.9.0',
    source: {
      module: 'github.com/terraform-providers/terraform-provider-random',
      version: 'v1.3.2-0.20260513075824-f8d869dc98d9',
      sum: {
        zip: 'h1:RtH+AyIg8JVmGlCnemdp+wcfzC0EjVENjE34GdD4R7Q=',
        mod: 'h1:odVJ90DzvMMUyn49frkjyULwFRBg7PeXbAPeh/LvL90=',
      },
    },
  },
  time: {
    name: 'time',
    version: '0.14.2',
    source: { module: 'github.com/hashicorp/terraform-provider-time', version: 'v0.14.2' },
  },
  tls: {
    name: 'tls',
    version: '4.2.1',
    source: {
      module: 'github.com/hashicorp/terraform-provider-tls',
      version: 'v1.2.1-0.20260130152455-857b38cda3fc',
      sum: {
        zip: 'h1:iCzlbH6QDWzO5ecjT4tbXkZv5tHEXC/eCipm1KzZ2Qk=',
        mod: 'h1:BhbyHxMoCW5R46E1SIaDOAOWTJhhExnMD7NRT44aamg=',
      },
    },
  },
}

/** Built from source it is two commits past its release: an update of gRPC, and a list of who owns the code. */
export const KUBERNETES: Provider = {
  name: 'kubernetes',
  version: '3.2.1',
  source: {
    module: 'github.com/hashicorp/terraform-provider-kubernetes',
    version: 'v1.13.4-0.20260821094251-3a33fb6cc605',
    sum: {
      zip: 'h1:Bb8CFKLw8r2CTu9NL5LUtj4kgOcE3q8D/lWUqtjSVWI=',
      mod: 'h1:OLPigVhMeG/GmbwJV5WkcDZHvsdz16CB4RLmh3ItH6o=',
    },
  },
  minutes: 60,
  build: { ldflags: '-X main.Version=3.2.1' },
}
