# frozen_string_literal: true

# An application with the models of a library, "sequel" or "active_record", and requests to it: prints a line of JSON
# for each, with the status, the header Retry-After and the body. Ends with status 3 where the library is not installed.
LIBRARY = ARGV.fetch(0)
begin
  gem "sqlite3", "~> 1.7"
  if LIBRARY == "active_record"
    gem "activerecord", "~> 7.2.0"
    gem "json", "< 3" # which ActiveRecord before 7.2.3 needs
  end
rescue LoadError
  exit 3
end
require "sqlite3"
require "tmpdir"
require "pelton/web"
require "rack/mock_request"

FOLDER = Dir.mktmpdir
at_exit { FileUtils.rm_rf(FOLDER) }
FILE = File.join(FOLDER, "posts.sqlite3")
SQLite3::Database.new(FILE) do |database|
  database.execute("CREATE TABLE posts (id INTEGER PRIMARY KEY, title VARCHAR(255) NOT NULL, stars INTEGER)")
  database.execute("INSERT INTO posts (title) VALUES ('one'), ('two'), ('three')")
end

if LIBRARY == "sequel"
  require "sequel"
  Sequel.connect(adapter: "sqlite", database: FILE, timeout: 0)
  Sequel::Model.plugin :active_model
  Sequel::Model.plugin :validation_helpers
  Sequel::Model.plugin :json_serializer
  class Post < Sequel::Model
    def validate
      super
      validates_presence :title, message: "is missing"
    end
  end
  FIND = ->(id) { Post.with_pk!(id) }
  CREATE = ->(values) { Post.create(values) }
  SAVE = ->(post) { post.save(raise_on_failure: false) }
else
  require "active_record"
  ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: FILE, timeout: 0)
  class Post < ActiveRecord::Base
    validates :title, presence: {message: "is missing"}
  end
  FIND = ->(id) { Post.find(id) }
  CREATE = ->(values) { Post.create!(values) }
  SAVE = ->(post) { post.save }
end

class Blog < Pelton::Web::Application
  settings.raise_errors = false
  settings.environment = "production"
  settings.secrets = ["s" * 64]
  settings.hosts = nil
  settings.root = FOLDER
  settings.uploads = Pelton::Web::Uploads.new(File.join(FOLDER, "uploads"))

  routes do
    get("/posts/:id", as: :post) { render json: FIND.call(params.integer(:id)) }
    get("/posts") do
      render json: {posts: paginate(Post.order(:id), limit: 2).to_a, path: Blog.urls.post_path(Post.first)}
    end
    post("/posts") { CREATE.call(params.permit(:title)) && head(201) }
    post("/form") do
      post = Post.new(params.require(:post).permit(:title))
      next redirect_to(Blog.urls.post_path(post)) if SAVE.call(post)
      render :form, status: 422, locals: {post: post}
    end
    get("/form/:id") { render :form, locals: {post: FIND.call(params.integer(:id))} }
    post("/files") do
      uploads.keep(params.file(:file)) { |key| CREATE.call(title: key) }.then do |post|
        render plain: File.read(uploads.path(post.title))
      end
    end
  end
end
Dir.mkdir(File.join(FOLDER, "views"))
File.write(File.join(FOLDER, "views/form.html.erb"), <<~ERB)
  <%= form_with(model: post, url: "/posts") do |form| %><%= form.text_field :title %><%= form.error :title %><% end %>
ERB
Blog.settings.views = [File.join(FOLDER, "views")]
Blog.boot!
Pelton.logger = nil

BROWSER = Rack::MockRequest.new(Blog)
def request(verb, path, **options)
  response = BROWSER.request(verb, path, "HTTP_SEC_FETCH_SITE" => "same-origin", "HTTP_ACCEPT" => "application/json",
    **options)
  puts JSON.generate([response.status, response["retry-after"], response["location"], response.body])
end

Pelton.run do
  request("GET", "/posts/1")
  request("GET", "/posts/77")
  request("GET", "/posts?page=2")
  request("POST", "/posts", params: {title: ""})
  request("POST", "/form", params: {post: {title: ""}})
  request("POST", "/form", params: {post: {title: "four"}})
  request("GET", "/form/1")
  request("POST", "/files",
    params: {file: Rack::Multipart::UploadedFile.new(io: StringIO.new("bytes"), filename: "a.txt")})
  other = SQLite3::Database.new(FILE)
  other.execute("BEGIN EXCLUSIVE")
  request("POST", "/posts", params: {title: "locked"})
ensure
  other&.close
  Pelton.stop
end
