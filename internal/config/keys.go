package config

import (
	"time"

	"codeloops/internal/loop"
)

// A Config is the effective configuration of a run, made by [Load]. Its fields may be read
// from any goroutine.
//
// The structs of this file declare the keys: whatever is said about a key is in the tags
// of its field, which [Key] explains. A field of type topic begins a topic.
type Config struct {
	_            topic    `topic:"Agents"`
	Agent        string   `key:"agent" is:"agent" default:"claude" flag:"agent,a" resume:"inherited" show:"both" help:"{name} of the agent for both roles (codeloops agents lists them), with a model if you like: claude:opus; or \"auto\" to choose one; the first one installed if claude is not" more:"\"auto\" chooses from agent_order."`
	Model        string   `key:"model" is:"model" flag:"model,m" resume:"inherited" show:"both" help:"{model} for both roles; \"\" is the agent's own default"`
	Fallback     []string `key:"fallback" is:"agents" flag:"fallback" resume:"inherited" show:"often" help:"{agent}, or agent:model, that takes over when another one cannot continue; may be repeated" more:"That is when it is not signed in, when the wait for its limit is too long, when its service stays overloaded, or when the prompt is too long for its model."`
	AgentOrder   []string `key:"agent_order" is:"agents" flag:"agent-order" resume:"inherited" show:"file" help:"{agent}, or agent:model, that \"auto\" may choose; may be repeated" more:"The first that is installed and signed in is taken. Empty: those of codeloops agents, in their order."`
	ActorSession string   `key:"actor_session" is:"fresh|resume" default:"fresh" flag:"actor-session" show:"file" help:"whether the actor begins a new conversation in each iteration or continues the last one" more:"A critic's turn always begins a new one."`
	CriticView   string   `key:"critic_view" is:"auto|overlay|clone|copy|tree" default:"auto" flag:"critic-view" trust:"needed" looser:"tree" help:"where critics and checks work: {}; tree is the work tree itself" more:"\"auto\": a view of the work tree, of the best kind that the system has. \"overlay\": a view at the same path (Linux). \"clone\": a copy that shares its blocks with the work tree. \"copy\": a plain copy. \"tree\": the work tree itself; what they change there stays."`
	CriticAccess string   `key:"critic_access" is:"full|read-only" default:"full" flag:"critic-access" trust:"needed" looser:"less" show:"file" help:"what critics may do in their view of the work tree" more:"\"full\": build and test. \"read-only\": neither write nor run commands, as far as their CLIs support that; always so with critic_view = \"tree\"."`
	CriticEnv    string   `key:"critic_env" is:"full|clean" default:"full" flag:"critic-env" trust:"needed" looser:"less" show:"file" help:"which variables critics get: {}; clean leaves out secrets that the model does not need"`
	EnvPass      []string `key:"env_pass" is:"variable" flag:"env-pass" trust:"needed" looser:"exceptions" show:"file" help:"{variable} that is passed on all the same: a secret to critics with critic_env \"clean\", GITHUB_ENV and its like to agents and checks; may be repeated" more:"A name or a glob."`
	EnvDeny      []string `key:"env_deny" is:"variable" trust:"needed" looser:"lacks" help:"variables of the environment that agents do not get" more:"Names or globs, as in [\"AWS_*\"]."`

	_                    topic         `topic:"Limits"`
	MaxIterations        int           `key:"max_iterations" default:"10" flag:"max-iterations,n" resume:"inherited" show:"both" help:"end after {n} iterations; 0 is no limit"`
	MaxDuration          time.Duration `key:"max_duration" flag:"max-duration" looser:"limit" show:"often" help:"end after this {time}, such as 90m or 2d; 0s is no limit"`
	MaxCost              float64       `key:"max_cost" is:"dollars" flag:"max-cost" looser:"limit" show:"both" help:"end when the turns have cost this many US {dollars}, as the agents report it; 0 is no limit" more:"No new turn begins at the limit. An agent that reports no cost needs price_input and price_output."`
	MaxTokens            int           `key:"max_tokens" flag:"max-tokens" looser:"limit" show:"often" help:"end when the turns have used {n} tokens, as the agents report them; 0 is no limit" more:"Input, cache and output count. What an agent does not report is estimated from the texts; the real number is higher."`
	MaxWait              time.Duration `key:"max_wait" default:"6h" flag:"max-wait" help:"wait at most this {time} for a rate limit to end" more:"\"0s\" waits neither for a limit nor for an overloaded service. Unless this is set, an agent with a fallback waits 5 minutes at most."`
	MaxConsecutiveErrors int           `key:"max_consecutive_errors" least:"1" default:"3" help:"end after this many failed iterations in a row"`
	MaxOutput            Size          `key:"max_output" default:"256MiB" help:"end a turn that prints more than this; 0 is no limit" more:"Sizes have a unit (B, KB, KiB, MB, MiB, GB, GiB); a bare number is bytes."`

	_                 topic         `topic:"Checks and verdicts"`
	Checks            []string      `key:"checks" is:"text" flag:"check" trust:"needed" looser:"lacks" show:"both" help:"shell {command} that must pass before the work is done; may be repeated" more:"Such as [\"go test ./...\"]."`
	CheckTimeout      time.Duration `key:"check_timeout" default:"10m" looser:"limit" show:"often" help:"the time limit of one check; 0s is no limit"`
	CheckBefore       bool          `key:"check_before" flag:"check-before" help:"also run the checks before the session, to know which of them fail already"`
	FailFast          bool          `key:"fail_fast" flag:"fail-fast" help:"skip the remaining checks after one that fails"`
	CriticRetries     int           `key:"critic_retries" default:"2" help:"how often a critic is asked again when its reply holds no readable decision"`
	Profile           string        `key:"profile" is:"default|strict" default:"default" flag:"profile" trust:"needed" looser:"less" show:"often" help:"the defaults of the settings: {}; see codeloops help decisions" more:"A key that is set wins."`
	ApprovalThreshold float64       `key:"approval_threshold" flag:"approval-threshold" trust:"needed" looser:"less" help:"the lowest {score} of the critic, 0 to 1, that approves the work; 0 is none" more:"A lower score sends the work back, whatever the critic decides."`
	RequireChange     bool          `key:"require_change" flag:"require-change" trust:"needed" looser:"less" help:"accept DONE only if something has changed"`
	CritiqueTemplate  string        `key:"critique_template" is:"critique" trust:"needed" looser:"differs" help:"the prompt for the critic, in place of codeloops' own words on how to judge" more:"It must contain {prompt} and {diff}; codeloops help templates lists the other placeholders."`
	RefineTemplate    string        `key:"refine_template" is:"refinement" trust:"needed" help:"the prompt for the actor from the second iteration on" more:"It must contain {prompt}, and {critique} or {issues_bulleted}."`

	_         topic  `topic:"Output"`
	LogFormat string `key:"log_format" is:"pretty|compact|json" default:"pretty" flag:"log-format" resume:"shown" help:"how progress is shown: {}; json prints the events as JSON lines"`
	CI        string `key:"ci" is:"auto|none|github|gitlab" default:"auto" flag:"ci" trust:"needed" resume:"shown" show:"file" help:"lay out the progress for the log of a CI job: {}; auto looks at the environment" more:"\"github\" and \"gitlab\" fold each iteration."`
	Notify    string `key:"notify" is:"none|bell|osc9|osc777" default:"none" flag:"notify" trust:"needed" resume:"shown" show:"file" help:"how the terminal announces the end of the run" more:"\"osc9\": iTerm2, kitty, Windows Terminal and others. \"osc777\": foot, rxvt, WezTerm, Ghostty."`
	Title     bool   `key:"title" default:"true" flag:"title" trust:"needed" resume:"shown" show:"file" help:"show the state of the run in the title of the terminal; --title=false does not"`
	Confirm   string `key:"confirm" is:"short|never" default:"short" trust:"needed" help:"which prompts have to be confirmed on a terminal" more:"\"short\" is those under four words, \"never\" is none, as with --yes."`
	LogOutput Size   `key:"log_output" least:"1024" default:"1MiB" help:"how much of each output stream of a turn the session log keeps"`

	_           topic                  `topic:"Session"`
	SessionDir  string                 `key:"session_dir" is:"dir" flag:"session-dir" trust:"needed" resume:"said" help:"keep session logs in {dir} (default ~/.local/share/codeloops/sessions)" more:"It lies outside of the work tree. A relative path starts at this file."`
	Keep        int                    `key:"keep" default:"20" trust:"needed" help:"keep the checkpoints of this many sessions of a repository, the latest ones" more:"codeloops sessions restore needs them. Logs are kept until you remove them."`
	KeepFor     time.Duration          `key:"keep_for" default:"30d" trust:"needed" help:"also keep the checkpoints of all sessions that began within this time; 0s keeps all" more:"What resume needs is always kept."`
	Actor       Worker                 `key:"actor" flags:"actor-"`
	Critic      Judge                  `key:"critic" flags:"critic-"`
	Strategy    Strategy               `key:"strategy" flags:"" trust:"needed"`
	Lessons     Lessons                `key:"lessons" trust:"needed"`
	Hooks       Hooks                  `key:"hooks" trust:"needed"`
	Queue       Queue                  `key:"queue" flags:"" trust:"own"`
	Policy      Policy                 `key:"policy" trust:"needed"`
	Convergence loop.ConvergencePolicy `key:"convergence" topic:"Limits"`
	Agents      map[string]CustomAgent `key:"agents" trust:"needed"`
	provenance
}

// A once holds the settings of one run that no file has.
type once struct {
	_ topic `topic:"Agents"`

	Script string `is:"dir" flag:"script" help:"scenario {file} of the built-in agent scripted"`

	_ topic `topic:"Strategy"`

	BestOf int `flag:"best-of" sets:"strategy.name=tree-of-thoughts,strategy.branch_factor={},strategy.max_depth=1" resume:"inherited" help:"let {n} candidates work at the same time, each in a copy, and continue with the best (tree-of-thoughts)"`

	_ topic `topic:"Limits"`

	NoWait bool `flag:"no-wait" sets:"max_wait=0s" help:"end the run at a rate limit, instead of waiting"`

	_ topic `topic:"Checks and verdicts"`

	RequireWitness bool `flag:"require-witness" sets:"policy.witness=require" help:"accept DONE only if new tests fail on the code as it was when the session began"`

	_ topic `topic:"Session"`

	TrustProject bool `flag:"trust-project" resume:"said" help:"trust the project's codeloops.toml and its files for agents, which may run commands, for this run"`
}

// A Role says how a role is played. What it does not set, actor and critic take from the
// general agent, model and fallback, and a role of a strategy takes from the actor if it
// writes, and from the critic if it does not.
type Role struct {
	_        topic    `topic:"Agents"`
	Agent    string   `key:"agent" is:"agent?" flag:"agent" resume:"inherited" show:"brief" help:"{name} of the role's own agent (default: --agent)"`
	Model    string   `key:"model" is:"model" flag:"model" resume:"inherited" help:"{model} of the role's own agent (default: --model)"`
	Fallback []string `key:"fallback" is:"agents" help:"the agents that take over when the role's agent cannot continue" more:"Without it, the general fallback; with [], none."`

	_           topic         `topic:"Limits"`
	Timeout     time.Duration `key:"timeout" default:"60m" flag:"timeout" help:"end a turn of the role after this {time}; 0s is no limit"`
	IdleTimeout time.Duration `key:"idle_timeout" default:"15m" help:"end a turn that prints nothing for this long; 0s is no limit" more:"The default applies only to agents that print as they work, a value that you set to all."`
	MaxCost     float64       `key:"max_cost" is:"dollars" looser:"limit" help:"the most that the role's turns together may cost, in US dollars; 0 is no limit of its own"`
	MaxTokens   int           `key:"max_tokens" looser:"limit" help:"the most tokens that the role's turns together may use; 0 is no limit of its own"`
	PriceInput  float64       `key:"price_input" is:"dollars" help:"US dollars per million tokens of input, to estimate the cost of a turn whose agent reports none"`
	PriceOutput float64       `key:"price_output" is:"dollars" help:"US dollars per million tokens of output"`
}

// A Worker is the actor.
type Worker struct {
	Role

	Instructions string `key:"instructions" is:"text?" trust:"needed" help:"what the actor is told in addition to its task"`
	Template     string `key:"template" is:"task" trust:"needed" help:"the prompt for the actor, in place of codeloops' own words" more:"It must contain {prompt}. From the second iteration on, refine_template counts if it is set."`
}

// A Judge is the critic, or several critics instead of one.
type Judge struct {
	Role

	Instructions string `key:"instructions" is:"text?" trust:"needed" looser:"differs" help:"what the critic is told in addition to its task"`
	Template     string `key:"template" is:"critique" trust:"needed" looser:"differs" help:"the same as critique_template, and counts instead of it"`

	_       topic    `topic:"Agents"`
	Members []string `key:"panel" is:"agents" flag:"panel" trust:"needed" looser:"panel" help:"{agent}, or agent:model, of a panel that judges instead of one critic; may be repeated" more:"Each judges the same work by itself. The budgets of the critic apply to all of them together."`
	Quorum  string   `key:"quorum" is:"quorum" default:"all" flag:"quorum" trust:"needed" looser:"quorum" show:"file" help:"how many members of the panel must say DONE: {all|majority|n}"`
	Rounds  int      `key:"panel_rounds" least:"1" default:"1" trust:"needed" looser:"less" help:"how often the members judge at most" more:"While they disagree, they judge again after seeing what all of them said."`
}

// A Member is a role of a strategy: how it is played, and for a role that the user has
// named, what it is for.
type Member struct {
	About        string `key:"about" is:"text" default:"writes the tests" help:"what the role is for, in a few words, for those who choose it"`
	Instructions string `key:"instructions" is:"text" default:"Write tests, and nothing else." help:"what its agent is told in addition to its task"`
	Template     string `key:"template" is:"text" default:"Write tests for this: {prompt}" help:"what its agent is told in place of codeloops' own words" more:"It may contain {prompt}; that of a coordinator or a classifier must contain {worker_descriptions}. The form of the reply follows in any case."`
	Strategy     string `key:"strategy" is:"loop" default:"actor-critic" help:"the strategy with which it works when it is chosen; without it, it has one turn"`
	Accepts      string `key:"accepts" is:"schema" default:"{\"type\": \"object\", \"required\": [\"files\"]}" help:"swarm: the JSON schema of what it can be handed; without it, any object"`
	Passes       string `key:"passes" is:"none|last|all" default:"last" help:"swarm: what it is shown of what the others have said; without it, pass_full_history counts"`
	Role
}

// A Strategy is how the agents are driven.
type Strategy struct {
	_    topic  `topic:"Strategy"`
	Name string `key:"name" is:"strategy" default:"actor-critic" flag:"strategy" resume:"inherited" help:"{name} of the strategy that drives the agents (codeloops strategies lists them)"`
	Jobs int    `key:"jobs" flag:"jobs" resume:"said" help:"run at most {n} agents at the same time; 0 is all that the strategy asks for"`
	// Set holds the parameters of all strategies, which declare them.
	Set   map[string]any            `key:",remain"`
	Roles map[string]Member         `key:"roles"`
	set   map[string]map[string]any // what is set of each role, by its name and key
}

// Lessons say how matching lessons are found. The keys need trust, because tasks and the
// key are sent to the URL.
type Lessons struct {
	EmbeddingsURL    string `key:"embeddings_url" is:"endpoint?" help:"an endpoint with OpenAI's API for embeddings, to find lessons by their meaning" more:"Such as \"https://api.example.com/v1\". \"\" finds them by their words."`
	EmbeddingsModel  string `key:"embeddings_model" is:"text?" help:"the model of that endpoint"`
	EmbeddingsKeyEnv string `key:"embeddings_key_env" is:"variable?" help:"the name of the variable that holds the key of that endpoint; \"\" sends none"`
}

// A Queue says where the user's queue is served, if not by this home's own hub. No project
// file may set the keys, because a hub sends commands to workers.
type Queue struct {
	Hub      string `key:"hub" is:"text?" flag:"hub" help:"where the queue is served, if not on this machine: the address that codeloops queue serve prints there, or that of your own NATS server" more:"This table is valid only in the global file."`
	CA       string `key:"ca" is:"dir" help:"a file with the authorities that may sign its certificate; \"\" is the system's"`
	Cert     string `key:"cert" is:"dir" help:"a file with the client's certificate; \"\" is none"`
	Key      string `key:"key" is:"dir" help:"a file with the key of that certificate"`
	Creds    string `key:"creds" is:"dir" help:"a file with credentials of NATS; \"\" is the key that codeloops queue serve key prints"`
	Replicas int    `key:"replicas" least:"1" default:"1" help:"how many servers of a cluster keep the queue" more:"It takes effect when the queue is created."`
	Merge    string `key:"merge" is:"auto|ask|never" default:"auto" help:"what becomes of the result of a task that is added" more:"\"auto\": it is merged. \"ask\": it is merged once you have accepted it (codeloops queue accept). \"never\": it stays on the branch of the task."`
}

// A Policy holds the rules for verdicts and changes. docs/policy.md describes each rule. Rules on verdicts are
// declared where the log has them.
type Policy struct {
	_ topic `topic:"Checks and verdicts"`
	loop.Policy
	AutoRevise bool   `key:"auto_revise" default:"true" looser:"more" help:"whether the actor may be sent back to work" more:"With false, only DONE and escalations take effect, and anything else ends the run."`
	Critique   string `key:"critique" is:"free|structured" default:"free" looser:"less" help:"\"structured\" accepts only a JSON object with severity, risks and changes that codeloops can check by itself" more:"The keys up to max_required_changes apply only then."`
	loop.CritiquePolicy
	Tamper            string   `key:"tamper" is:"off|report|block" default:"report" looser:"less" help:"what happens when tests are gone, skipped or assert less, when what they expect has changed, or files that decide whether they pass" more:"\"report\" lists these signs for the critic and for you, \"block\" makes them break a rule."`
	Block             []string `key:"block" is:"sign" default:"test_gone,fewer_assertions,skip_added,gate_changed,expectation_changed" looser:"lacks" help:"the signs that break the rule with tamper = \"block\""`
	TamperTables      string   `key:"tamper_tables" is:"dir" trust:"own" help:"a TOML file with further tables of what tests and gate files look like; \"\" is none" more:"Of the form of the program's own tables, which docs/limits.md shows."`
	Witness           string   `key:"witness" is:"off|report|require" default:"off" looser:"less" help:"whether new tests are also run on the code as it was when the session began, where they must fail" more:"\"report\" tells you and the critic, \"require\" lets no DONE count without such a test. It takes checks that run the tests."`
	AllowPaths        []string `key:"allow_paths" is:"path" looser:"allowed" help:"globs of the paths that may be changed, as in [\"src/**\", \"**/*.md\"]; [] is all" more:"Paths begin at the repository's root; a directory stands for everything below it."`
	DenyPaths         []string `key:"deny_paths" is:"path" looser:"lacks" help:"globs of the paths that may not be changed"`
	DenyPhrases       []string `key:"deny_phrases" is:"text" looser:"lacks" help:"phrases that may not be added, as in [\"console.log\", \"all tests pass\"]" more:"Whole words, in any case. Phrases that were there before may stay."`
	MaxFiles          int      `key:"max_files" looser:"limit" help:"the most files that may differ from the start of the session; 0 is no limit"`
	MaxLines          int      `key:"max_lines" looser:"limit" help:"the most lines added and removed, together; 0 is no limit"`
	MaxBytes          Size     `key:"max_bytes" looser:"limit" help:"the most bytes in those lines, and in binary files; 0 is no limit"`
	NoNewDependencies bool     `key:"no_new_dependencies" looser:"less" help:"whether go.mod, package.json, pyproject.toml, Cargo.toml and the like may not name new dependencies"`
}

// Hooks are shell commands of the user's that a run calls. docs/notices.md describes them.
type Hooks struct {
	_         topic         `topic:"Output"`
	Start     string        `key:"on_start" is:"text?" help:"shell command that is called when a run begins" more:"It gets the event as JSON on standard input, and a sentence about it in the variable CODELOOPS_HOOK_TEXT. What it does or prints has no effect on the run; a failure is told. codeloops help notices has examples."`
	Iteration string        `key:"on_iteration" is:"text?" help:"the same after each iteration"`
	Wait      string        `key:"on_wait" is:"text?" help:"the same when a run waits: for a rate limit to end, or for you"`
	End       string        `key:"on_end" is:"text?" help:"the same when a run ends, however it ends"`
	Timeout   time.Duration `key:"timeout" default:"30s" help:"the time limit of one call; 0s is no limit"`
}

// A CustomAgent is one of the user's own agents. Arguments may hold the placeholders
// {model}, {prompt} and {prompt_file}; [Load] has checked that there are no others, and
// that they fit Prompt.
type CustomAgent struct {
	Command       []string          `key:"command" is:"plain" default:"mine,--yes" help:"the command and its arguments" more:"{prompt} and {prompt_file} stand for the prompt or a file with it, as the key prompt says. {model} stands for the model, which then must be set."`
	CriticCommand []string          `key:"critic_command" is:"plain" default:"mine,--read-only" help:"the command for a critic, which must not change anything; without it, command"`
	Prompt        string            `key:"prompt" is:"stdin|pipe|arg|file" default:"stdin" help:"how the prompt reaches the command" more:"\"stdin\" is a file on standard input, \"pipe\" a pipe, \"arg\" the argument {prompt}, \"file\" the file {prompt_file}."`
	Output        string            `key:"output" is:"output" default:"text" help:"what the command prints: \"text\", or a structured format that codeloops can read"`
	ModelArgs     []string          `key:"model_args" is:"plain" default:"--model,{model}" help:"arguments that are added only when a model is set"`
	SessionArgs   []string          `key:"session_args" is:"plain" default:"--session-id,{session_id}" help:"arguments that begin a conversation" more:"{session_id} stands for its name, a UUID that the log holds as well."`
	ResumeArgs    []string          `key:"resume_args" is:"plain" default:"--resume,{conversation}" help:"arguments that continue a conversation, whose name the structured output gives"`
	Env           map[string]string `key:"env" is:"plain" default:"value" help:"variables that the command gets in addition to the environment"`
	Install       string            `key:"install" is:"plain" default:"see the project's wiki" help:"what to tell a user who does not have the command"`
}
