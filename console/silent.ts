import { UserManager } from 'oidc-client-ts'

// The page of the hidden frame that renews a token: it passes the answer to the page around it.
void new UserManager({ authority: '', client_id: '', redirect_uri: '' }).signinSilentCallback()
