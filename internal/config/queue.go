package config

// A Queue says where the queue of the user is served, when not by a hub of this home.
type Queue struct {
	Hub      string `key:"hub"`   // URL, which may hold a password; "": this home's own
	CA       string `key:"ca"`    // file with the authorities that sign its certificate; "": the system's
	Cert     string `key:"cert"`  // file with the certificate that it is shown; "": none
	Key      string `key:"key"`   // file with the key of that
	Creds    string `key:"creds"` // file with credentials of NATS; "": the key of the home
	Replicas int    `key:"replicas"`
	// Transport is what commits travel through between machines, and Remote the name of the git remote
	// where it is that. Both are about the repositories of this home.
	Transport string `key:"transport"`
	Remote    string `key:"remote"`
}

// What commits of the queue travel through between machines.
const (
	TransportBundle = "bundle" // the hub
	TransportRemote = "remote" // a git remote
)

// Through is the git remote that commits travel through; "" is none.
func (q *Queue) Through() string {
	if q.Transport == TransportRemote {
		return q.Remote
	}
	return ""
}

// queueSchema are the keys of the queue. They are the user's own: a hub gives workers commands,
// so that no project says which one it is.
func queueSchema() schema {
	s := schema{
		{key: "queue.hub", value: text(plain), byDefault: "", flag: "--hub"},
		{key: "queue.ca", value: text(plain), byDefault: "", directory: true},
		{key: "queue.cert", value: text(plain), byDefault: "", directory: true},
		{key: "queue.key", value: text(plain), byDefault: "", directory: true},
		{key: "queue.creds", value: text(plain), byDefault: "", directory: true},
		{key: "queue.replicas", value: count(1), byDefault: 1},
		{key: "queue.transport", value: choice(TransportBundle, TransportRemote), byDefault: TransportBundle},
		{key: "queue.remote", value: text(notBlank), byDefault: "origin"},
	}
	for i := range s {
		s[i].own = true
	}
	return s
}
