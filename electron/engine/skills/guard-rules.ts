import type { Finding } from '#shared/contract/skills.ts';

export type Severity = Finding['severity'];
export type GuardRule = readonly [severity: Severity, category: string, message: string, pattern: RegExp];

const FETCH = '(?:curl|wget|invoke-webrequest|iwr|fetch)';
const SHELL = '(?:sudo\\s+)?(?:ba|z|da|k)?sh\\b';

/**
 * What a file of a skill must not hold unseen, line by line. The kinds are those of Hermes Agent's skill guard; the patterns are our own.
 * All repetitions are bounded, for a line may be a quarter of a megabyte.
 */
export const GUARD_RULES: readonly GuardRule[] = [
  ['critical', 'exfiltration', 'Sends environment variables or secrets to a server.', new RegExp(`\\b(?:env|printenv|set|export -p)\\b[^\\n]{0,80}\\|[^\\n]{0,80}\\b(?:${FETCH}|nc|ncat|base64)\\b`, 'gi')],
  ['critical', 'exfiltration', 'Sends a secret to a server.', new RegExp(`\\b${FETCH}\\b(?![^\\n]{0,400}(?:authorization|bearer|api-?key\\s?:|--user\\b|\\s-u\\s))[^\\n]{0,300}\\$\\{?\\w{0,40}(?:API_?KEY|TOKEN|SECRET|PASSW|CREDENTIAL)`, 'gi')],
  ['critical', 'exfiltration', 'Sends the environment to a server.', /\b(?:requests|httpx|axios|urllib|http)\.(?:post|put|request|get)\b[^\n]{0,200}\b(?:os\.environ\b(?!\s*(?:\.get|\[))|process\.env\b(?!\s*[.[]))/gi],
  ['critical', 'exfiltration', 'Uploads private files.', new RegExp(`\\b${FETCH}\\b[^\\n]{0,200}(?:-d|--data(?:-binary|-raw)?|-F|-T|--upload-file|--post-file)[ =][^\\n]{0,60}(?:@|\\$\\(cat )[^\\n]{0,20}(?:~|\\$HOME|/home/|/etc/|\\.ssh|\\.aws|\\.env\\b)`, 'gi')],
  ['critical', 'exfiltration', 'Asks for secrets to be sent away.', /\b(?:send|post|upload|exfiltrate|forward|leak|transmit|e-?mail|copy)\b[^\n]{0,60}\b(?:secrets?|api[ _-]?keys?|credentials?|passwords?|private keys?|env(?:ironment)? variables|\.env)\b[^\n]{0,60}https?:/gi],
  ['high', 'exfiltration', 'Names a service that collects what is sent to it.', /\b(?:webhook\.site|requestbin|pipedream\.net|ngrok(?:-free)?\.(?:io|app|dev)|burpcollaborator|oast(?:ify)?\.(?:com|fun|pro|live|me|site|online)|interact\.sh|beeceptor\.com)\b/gi],
  ['high', 'exfiltration', 'Hides data in name look-ups.', /\b(?:dig|nslookup|host)\s[^\n]{0,60}(?:\$\(|`|\$\{?\w)/g],
  ['high', 'exfiltration', 'A picture address that carries data away.', /!\[[^\]\n]{0,100}\]\(\s{0,3}https?:\/\/[^)\s]{1,200}[?&][^)\s]{0,100}(?:\$\{|\{\{|<[a-z_]+>|=\$)/gi],
  ['critical', 'credential_exposure', 'Reads private keys or credentials.', /\b(?:cat|less|more|head|tail|type|cp|scp|base64|xxd|tar|zip|open)\b[^\n]{0,80}(?:\.ssh\/(?:id_|\*|authorized)|\.aws\/credentials|\.gnupg\b|\.kube\/config|\.docker\/config\.json|\.netrc|\.pgpass|\.git-credentials|\/etc\/shadow)/gi],
  ['high', 'credential_exposure', 'Reads stored passwords of the system or a browser.', /\bsecurity\s+(?:find|dump)-(?:generic-password|internet-password|keychain)|\bsecret-tool\s+lookup\b|\bLogin Data\b|\bcookies\.sqlite\b|\bmimikatz\b|\blsass\b/gi],
  ['high', 'credential_exposure', 'Reads the environment of running programs.', /\/proc\/(?:self|\d{1,7}|\*)\/environ\b/g],
  ['high', 'credential_exposure', 'Asks the machine\'s cloud for credentials.', /\b169\.254\.169\.254\b|\bmetadata\.google\.internal\b/g],
  ['high', 'credential_exposure', 'Holds a private key.', /-----BEGIN (?:[A-Z]{2,10} )?PRIVATE KEY-----/g],
  ['high', 'credential_exposure', 'Holds what looks like a key of a service.', /\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,}|glpat-[A-Za-z0-9_-]{20,}|xox[abprs]-[A-Za-z0-9-]{20,}|sk-(?:proj-|ant-|or-v1-)?[A-Za-z0-9_-]{32,}|hf_[A-Za-z0-9]{30,}|AIza[0-9A-Za-z_-]{35})/g],
  ['medium', 'credential_exposure', 'Reads a file of settings that often holds secrets.', /\b(?:cat|less|head|tail|source|type)\s+[^\n]{0,60}(?:^|[\s/])\.env\b/gi],
  ['critical', 'destructive', 'Deletes the home folder or the whole disk.', /\brm\s+(?:-[a-z-]{1,20}\s+){1,4}(?:--\s+)?["']?(?:\/|~\/?|\$\{?HOME\}?\/?|\/(?:etc|usr|var|home|boot|bin|lib|root|Users|System)\b\/?)(?:\*|(?![\w./~${-]))/gi],
  ['critical', 'destructive', 'Overwrites a disk.', /\bdd\b[^\n]{0,100}\bof=\/dev\/(?:sd|nvme|hd|disk|mmcblk)|\bmkfs(?:\.\w{1,10})?\s+(?:-\S+\s+){0,5}\/dev\/|>\s{0,3}\/dev\/(?:sd[a-z]|nvme\d|hd[a-z]|disk\d)|\bformat\s+c:/gi],
  ['critical', 'destructive', 'A fork bomb.', /:\(\)\s{0,3}\{\s{0,3}:\s{0,3}\|\s{0,3}:\s{0,3}&\s{0,3}\}/g],
  ['high', 'destructive', 'Deletes from a program what may be any folder.', /\bshutil\.rmtree\(\s{0,3}(?:["']\/["']|os\.path\.expanduser|Path\.home)|\bRemove-Item\b[^\n]{0,60}-Recurse[^\n]{0,60}(?:C:\\(?:\s|["']|$)|\$HOME|\$env:USERPROFILE)/gi],
  ['high', 'destructive', 'Erases traces.', /\bhistory\s+-c\b|\bunset\s+HISTFILE\b|\bHISTSIZE=0\b|\bshred\b[^\n]{0,60}\/var\/log|>\s{0,3}\/var\/log\/|\brm\b[^\n]{0,60}\.(?:bash|zsh)_history\b/gi],
  ['critical', 'persistence', 'Lets somebody log in to this machine.', /authorized_keys\b(?=[^\n]{0,100}(?:>>|tee|echo|write|append))|(?:>>|tee\s+-a|echo|append)[^\n]{0,200}authorized_keys\b/gi],
  ['high', 'persistence', 'Makes something run with every shell or login.', /(?:>>?|tee(?:\s+-a)?)\s{0,3}["']?(?:~|\$\{?HOME\}?|\/etc|\/home\/\w{1,40})\/(?:\.(?:bash|zsh)(?:rc|_profile|env)|\.profile|\.zprofile|profile\.d\/|rc\.local|\.config\/autostart\/)/gi],
  ['high', 'persistence', 'Makes something run by the clock or at start.', /\bcrontab\s+(?:-\s|[^-\s][^\n]{0,40}$|<)|\|\s{0,3}crontab\b|\/etc\/cron\.|\blaunchctl\s+(?:load|bootstrap)\b|\bsystemctl\s+(?:--user\s+)?enable\b|\bschtasks\s+\/create\b|CurrentVersion\\+Run\b/gim],
  ['high', 'persistence', 'Changes what every agent is told.', /(?:>>?|\b(?:tee|echo|append|add)\b)[^\n]{0,120}\b(?:SOUL\.md|MEMORY\.md|USER\.md)\b/gi],
  ['high', 'persistence', 'Makes git run something in every repository.', /\bgit\s+config\s+--(?:global|system)\s+(?:core\.(?:hookspath|fsmonitor|sshcommand|pager|editor)|alias\.)/gi],
  ['critical', 'network', 'Gives somebody else a shell on this machine.', /\/dev\/(?:tcp|udp)\/|\b(?:nc|ncat|netcat)\b[^\n]{0,60}\s-(?:[a-z]{0,4}e|c)\b|\bsocat\b[^\n]{0,100}\bexec:|\bpty\.spawn\(\s{0,3}["']\/bin\/|\bsocket\b[^\n]{0,200}\bdup2\b/gi],
  ['high', 'network', 'Opens a tunnel into this machine.', /\bssh\s+(?:-\S+\s+){0,6}-[a-z]{0,4}R\s?\S{0,40}:\d|\bcloudflared\s+tunnel\b|\bngrok\s+(?:http|tcp)\b|\bchisel\s+(?:client|server)\b/gi],
  ['medium', 'network', 'Listens on all addresses of this machine.', /\b(?:nc|ncat)\s+-[a-z]{0,4}l|\b0\.0\.0\.0:\d{2,5}\b/gi],
  ['medium', 'network', 'Turns off the check of who a server is.', /\bcurl\b[^\n]{0,80}\s(?:-k|--insecure)\b|\bverify\s{0,2}=\s{0,2}False\b|NODE_TLS_REJECT_UNAUTHORIZED\s{0,3}=\s{0,3}["']?0|\bsslverify\s+false\b/gi],
  ['critical', 'obfuscation', 'Runs what it hides.', new RegExp(`\\b(?:base64\\s+(?:-d|-D|--decode)|xxd\\s+-r|openssl\\s+enc\\s+-d|rev|tr\\s+['"a-z-]{3,40}\\s+['"a-z-]{3,40})\\b[^\\n|]{0,80}\\|\\s{0,3}(?:${SHELL}|python|perl|node|ruby)`, 'gi')],
  ['critical', 'obfuscation', 'Runs what it hides.', /\b(?:exec|eval|compile|Function|execSync)\s{0,3}\(\s{0,3}[^\n]{0,60}(?:b64decode|atob|unhexlify|fromhex|codecs\.decode|zlib\.decompress|marshal\.loads|Buffer\.from\([^\n)]{0,400}["'](?:base64|hex)["'])/gi],
  ['critical', 'obfuscation', 'Runs what it hides.', /\bpowershell(?:\.exe)?\b[^\n]{0,80}\s-(?:e|enc|encodedcommand)\s+[A-Za-z0-9+/=]{16}|\bfrombase64string\b[^\n]{0,120}\b(?:iex|invoke-expression)\b|\b(?:iex|invoke-expression)\b[^\n]{0,120}\bfrombase64string\b/gi],
  ['medium', 'obfuscation', 'Holds a long run of encoded text.', /(?:[A-Za-z0-9+/]{80}){8}|(?:\\x[0-9a-f]{2}){60}/gi],
  ['high', 'obfuscation', 'Makes text from numbers to run it.', /\b(?:eval|exec|Function)\b[^\n]{0,40}(?:String\.fromCharCode|chr\(\d)/g],
  ['high', 'execution', 'Runs what it loads from the web.', new RegExp(`\\b(?:${FETCH})\\b[^\\n|;&]{0,300}\\|\\s{0,3}(?:${SHELL}|python3?\\b|perl\\b|node\\b|ruby\\b)`, 'gi')],
  ['high', 'execution', 'Runs what it loads from the web.', /\b(?:ba)?sh\s+-c\s+["'](?:\$\(|`)\s{0,3}(?:curl|wget)|\b(?:ba)?sh\s+<\(\s{0,3}(?:curl|wget)|\beval\s+["']?(?:\$\(|`)\s{0,3}(?:curl|wget)|\b(?:iex|invoke-expression)\b[^\n]{0,80}\b(?:downloadstring|iwr|invoke-webrequest)\b|\bcertutil\b[^\n]{0,60}-urlcache/gi],
  ['high', 'execution', 'Runs what it loads from the web.', /\b(?:exec|eval)\s{0,3}\(\s{0,3}(?:requests\.get|urllib\.request\.urlopen|await\s+fetch|\(await)/gi],
  ['medium', 'execution', 'Loads code from an unsafe format.', /\bpickle\.loads?\(|\bmarshal\.loads\(|\byaml\.unsafe_load\(/g],
  ['critical', 'traversal', 'Reaches for files outside of the skill by going up.', /(?:\.\.[\\/]){2,20}(?:etc|root|home|proc|sys|var|usr|Users|Windows|\.ssh|\.aws)\b/gi],
  ['high', 'traversal', 'Writes to folders of the system.', /(?:>>?|tee(?:\s+-a)?|\bcp\b[^\n]{0,60}|\bmv\b[^\n]{0,60})\s{0,3}["']?\/etc\/(?:passwd|shadow|sudoers|hosts|ssh|ld\.so)/gi],
  ['critical', 'mining', 'Mines crypto currency.', /\bxmrig\b|\bstratum\+(?:tcp|ssl):|\b(?:minerd|cgminer|ethminer|nbminer|cpuminer)\b|\bcoinhive\b|\bcryptonight\b/gi],
  ['high', 'supply_chain', 'Installs packages from a place that is not checked.', /\bpip3?\s+install\b[^\n]{0,100}(?:--(?:extra-)?index-url|-i)[ =]http:|\bpip3?\s+install\b[^\n]{0,100}--trusted-host\b|\b(?:npm|pnpm|yarn)\b[^\n]{0,80}--registry[ =]http:/gi],
  ['medium', 'supply_chain', 'Installs a package straight from an address.', /\bpip3?\s+install\s+(?:-\S+\s+){0,4}(?:git\+)?https?:|\bnpm\s+(?:i|install)\s+(?:-\S+\s+){0,4}https?:/gi],
  ['critical', 'privilege_escalation', 'Gives itself the rights of the administrator.', /\bNOPASSWD\b|(?:>>?|tee(?:\s+-a)?)\s{0,3}["']?\/etc\/sudoers|\becho\b[^\n]{0,60}\|\s{0,3}sudo\s+-S\b/gi],
  ['high', 'privilege_escalation', 'Changes who a program runs as.', /\bchmod\s+(?:[ugoa]{0,4}\+[rwx]{0,3}s|[24567]7[0-7]{2})\s|\bsetcap\b[^\n]{0,60}cap_|\bLD_PRELOAD\s{0,2}=|\bDYLD_INSERT_LIBRARIES\b/gi],
  ['high', 'privilege_escalation', 'Gives a container the whole machine.', /\bdocker\s+run\b[^\n]{0,200}(?:--privileged|-v\s{0,2}\/:|--pid[ =]host)|\/var\/run\/docker\.sock\b[^\n]{0,100}\brun\b|\bnsenter\b[^\n]{0,60}-t\s{0,2}1\b/gi],
  ['high', 'privilege_escalation', 'Turns off protection of the system.', /\bsetenforce\s+0\b|\bspctl\s+--master-disable\b|\bcsrutil\s+disable\b|\biptables\s+-F\b|\bufw\s+disable\b|\bSet-MpPreference\b[^\n]{0,80}Disable|\bxattr\s+-\w{0,3}d\w{0,3}\s+com\.apple\.quarantine/gi],
  ['high', 'privilege_escalation', 'Turns off questions to the person.', /--(?:dangerously-skip-permissions|dangerously-bypass-approvals\S{0,20}|yolo)\b|\bapprovals?\b[^\n]{0,30}\bmode\b[^\n]{0,10}\b(?:off|never)\b/gi],
  ['medium', 'privilege_escalation', 'Lets everybody write.', /\bchmod\s+(?:-R\s+)?0?777\b/g],
  ['low', 'privilege_escalation', 'Needs the rights of the administrator.', /\bsudo\s+\w/g],
];

/** Severity of what `injectionSigns` says; what is not here is critical. */
export const SIGN_SEVERITY: Readonly<Record<string, Severity>> = {
  'asks to hide things from the person': 'high',
  // skills about chat templates name these
  'holds control tokens of chat templates': 'high',
  // calls of services with a key look like it; what does more is among the rules above
  'sends secrets away': 'high',
  'hides text': 'high',
  'reads credentials': 'high',
};
