// The page that the link opens: the key stays in the storage of this port, and the address leaves the history.

localStorage.setItem("splice-key", document.querySelector("meta[name=csrf]").content);
location.replace("/");
