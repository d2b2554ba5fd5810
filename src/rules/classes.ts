import type { RuleText } from './rule.ts'

export type ClassText = Omit<RuleText, 'id'> & {
  /** The id without its cloud. */
  name: `${string}.${string}`
  /** Follows the argument in the message: `switches encryption off`. */
  says: string
  /** The rule is told once a plan, with the number of resources. */
  told?: 'once'
}

/** A class of faults, which one rule tells; two where what the code leaves unset weighs less than what it sets. */
export interface FaultClass extends ClassText {
  /** The rule about arguments that are bad because the code leaves them to the provider. */
  byDefault?: ClassText
}

/** The words of faults that several clouds have. A class of one cloud stands beside its table. */
export const CLASSES = {
  ENCRYPTION: {
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
  },
  TRANSIT: {
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
  },
  OLD_TLS: {
    name: 'transit.old-tls',
    title: 'Outdated version of TLS',
    reason: 'Versions before TLS 1.2 and old ciphers have known weaknesses, and standards forbid them.',
    fix: 'Require TLS 1.2 or later.',
    severity: 'warning',
    says: 'admits outdated versions or ciphers',
  },
  LOGGING: {
    name: 'logging.missing',
    title: 'No log of what happens',
    reason: 'After an incident nothing tells who did what.',
    fix: 'Switch on the logs that the resource offers, where its use is of interest later.',
    severity: 'info',
    told: 'once',
    says: 'leaves it without a log',
  },
  EVIDENCE_STOPPED: {
    name: 'evidence.stopped',
    title: 'Record or watch switched off',
    reason: 'From then on nothing tells who did what, which is how an attack begins.',
    fix: 'Leave it on; where it is replaced by another, switch that on first.',
    severity: 'error',
    says: 'switches the record off',
  },
  PUBLIC_MACHINE: {
    name: 'network.public-machine',
    title: 'Machine with a public address',
    reason: 'The machine is reachable from outside as soon as a firewall rule allows it.',
    fix: 'Give it a private address only; let it reach the internet through a NAT gateway.',
    severity: 'info',
    says: 'gives machines a public address',
  },
  PUBLIC_ENDPOINT: {
    name: 'network.public-endpoint',
    title: 'Service with a public endpoint',
    reason: 'The service can be reached from the internet; only its sign-in is left between.',
    fix: 'Use the private endpoint, or name the networks that need it.',
    severity: 'warning',
    says: 'opens the service to the internet',
  },
  NO_SIGN_IN: {
    name: 'access.no-sign-in',
    title: 'Use without a sign-in',
    reason: 'Whoever reaches the service can use it.',
    fix: 'Require a sign-in, unless the service is meant for everyone.',
    severity: 'warning',
    says: 'asks for no sign-in',
  },
  NO_PROTECTION: {
    name: 'stateful.unprotected',
    title: 'No protection against deletion',
    reason: 'A slip in the code or in the console destroys it.',
    fix: 'Switch the protection on where the resource is meant to last.',
    severity: 'info',
    told: 'once',
    says: 'leaves it without protection against deletion',
  },
  BACKUPS_OFF: {
    name: 'stateful.backups-off',
    title: 'Automatic backups switched off',
    reason: 'After an accident there is nothing to go back to.',
    fix: 'Keep backups for the days that the data needs.',
    severity: 'warning',
    says: 'switches backups off',
    byDefault: {
      name: 'stateful.no-backups',
      title: 'No backups',
      reason:
        'The default of this resource is to keep no backups, so that after an accident there is nothing to go back to.',
      fix: 'Switch backups on where the data cannot be made again.',
      severity: 'info',
      told: 'once',
      says: 'is not set, and by default there are no backups',
    },
  },
  KEY_ROTATION: {
    name: 'encryption.no-key-rotation',
    title: 'Key without rotation',
    reason: 'A key that leaks stays good for all that was and will be encrypted with it.',
    fix: 'Switch the rotation on; old data stays readable.',
    severity: 'info',
    told: 'once',
    says: 'leaves the key without rotation',
  },
  PRIVILEGED: {
    name: 'compute.privileged',
    title: 'Container with the rights of its host',
    reason: 'A process in it is root on the host, and sees what runs beside it.',
    fix: 'Remove it, and give only the capabilities that are needed.',
    severity: 'error',
    says: 'gives the container the rights of its host',
  },
  OPEN_CLUSTER: {
    name: 'network.public-cluster-endpoint',
    title: 'Kubernetes API open to the internet',
    reason: 'Anyone can reach the API of the cluster; only its authentication is left between.',
    fix: 'Name the networks that need it, or make the endpoint private.',
    severity: 'warning',
    says: 'admits every address to the API of the cluster',
  },
  NO_ROLES: {
    name: 'access.no-roles',
    title: 'Cluster without roles',
    reason: 'Without roles every sign-in, and every pod with a token, may do nearly everything in the cluster.',
    fix: 'Leave role-based access control on, and legacy authorization off.',
    severity: 'error',
    says: 'lets every sign-in do nearly everything',
  },
  SHARED_ADMIN: {
    name: 'access.shared-admin',
    title: 'Administrator account that people share',
    reason: 'Nothing tells who used it, and it stays good when somebody leaves.',
    fix: 'Switch it off, and let people and workloads sign in by themselves.',
    severity: 'warning',
    says: 'keeps a shared account of an administrator',
    byDefault: {
      name: 'access.shared-admin-by-default',
      title: 'Administrator account that people share, by default',
      reason: 'By default there is an account that several people use, without a trace of who it was.',
      fix: 'Switch it off, and let people and workloads sign in by themselves.',
      severity: 'info',
      told: 'once',
      says: 'is not set, and by default there is a shared account',
    },
  },
  SHARED_KEYS: {
    name: 'access.shared-keys',
    title: 'Keys beside sign-in',
    reason: 'A key of the service is all or nothing, is copied around, and tells nobody who used it.',
    fix: 'Switch the keys off where every client can sign in with an identity.',
    severity: 'info',
    told: 'once',
    says: 'admits keys of the service beside identities',
  },
  PASSWORDS: {
    name: 'access.machine-password',
    title: 'Sign-in to a machine with a password',
    reason: 'Passwords are guessed, used twice and stand in the state of the engine.',
    fix: 'Use keys or the sign-in of the cloud.',
    severity: 'warning',
    says: 'admits passwords',
  },
  WEB_FIREWALL_OFF: {
    name: 'network.web-firewall-off',
    title: 'Web firewall switched off',
    reason: 'Known attacks reach the application unhindered.',
    fix: 'Leave it on; try rules out in detection mode instead.',
    severity: 'warning',
    says: 'switches the web firewall off',
  },
  FORWARDING: {
    name: 'network.ip-forwarding',
    title: 'Machine that forwards packets',
    reason: 'It can pass traffic between networks past their rules.',
    fix: 'Leave it off, unless the machine is a router or a firewall.',
    severity: 'info',
    says: 'lets the machine forward packets of others',
  },
  NO_NETWORK_POLICY: {
    name: 'network.no-pod-policy',
    title: 'Cluster that enforces no network policies',
    reason: 'Every pod reaches every other, whatever policies the code has.',
    fix: 'Choose a network plug-in that enforces them when the cluster is made.',
    severity: 'info',
    told: 'once',
    says: 'leaves network policies without effect',
  },
  EVIDENCE_INCOMPLETE: {
    name: 'evidence.incomplete',
    title: 'Record that leaves something out',
    reason:
      'What is not recorded or watched goes unseen, and records that are short or can be changed fail when they are needed.',
    fix: 'Record all regions, resources and members, keep records for months, and let them be validated.',
    severity: 'warning',
    says: 'leaves a gap in the record',
  },
} satisfies Record<string, FaultClass>
