window.softlabSite = {};
