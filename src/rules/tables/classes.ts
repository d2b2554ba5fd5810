import type { FaultClass } from '../table.ts'

// The words of faults that several clouds have. A class of one cloud stands beside its table.

export const ENCRYPTION: FaultClass = {
  name: 'encryption.disabled',
  title: 'Encryption at rest switched off',
  reason: 'Whoever gets at the disks, the backups or the snapshots reads the data.',
  fix: 'Switch encryption on; with the key of the provider it costs nothing.',
  severity: 'error',
  says: 'switches encryption off',
  byDefault: {
    name: 'encryption.missing',
    title: 'Encryption at rest not switched on',
    reason:
      'The default of this resource is to store data without encryption, ' +
      'and most cannot be changed later without replacement.',
    fix: 'Switch encryption on, with a key of your own where the data asks for it.',
    severity: 'warning',
    says: 'is not set and defaults to no encryption',
  },
}

export const TRANSIT: FaultClass = {
  name: 'transit.plain',
  title: 'Traffic without encryption',
  reason: 'Passwords and data pass the network in clear text, and anyone on the way can read and change them.',
  fix: 'Require TLS, and let plain ports only redirect or stay closed.',
  severity: 'error',
  says: 'admits traffic without encryption',
  byDefault: {
    name: 'transit.plain-by-default',
    title: 'Encryption of traffic not required',
    reason: 'The default of this resource admits traffic in clear text.',
    fix: 'Require TLS; some resources cannot be changed later without replacement.',
    severity: 'warning',
    says: 'is not set, and the default admits traffic without encryption',
  },
}

export const OLD_TLS: FaultClass = {
  name: 'transit.old-tls',
  title: 'Outdated version of TLS',
  reason: 'TLS 1.0 and 1.1 have known weaknesses, and standards forbid them.',
  fix: 'Require TLS 1.2 or later.',
  severity: 'warning',
  says: 'admits versions of TLS before 1.2',
}

export const LOGGING: FaultClass = {
  name: 'logging.missing',
  title: 'No log of what happens',
  reason: 'After an incident nothing tells who did what.',
  fix: 'Switch on the logs that the resource offers, where its use is of interest later.',
  severity: 'info',
  told: 'once',
  says: 'leaves it without a log',
}
