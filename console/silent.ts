import { UserManager } from 'oidc-client-ts'

// The page of the hidden frame in which a token is renewed: it hands the answer to the page around it.
void new UserManager({ authority: '', client_id: '', redirect_uri: '' }).signinSilentCallback()
