# frozen_string_literal: true

# Active Storage on the disk, in its own ways: redirects, proxies, direct uploads, variants.
ActiveRecord::Migration.verbose = false
require Dir["#{ActiveStorage::Engine.root}/db/migrate/*_create_active_storage_tables.rb"].fetch(0)
CreateActiveStorageTables.migrate(:up)
ActiveRecord::Base.connection.create_table(:documents) { |table| table.string :name }
ActiveRecord::Base.connection_handler.clear_active_connections!

class Document < ActiveRecord::Base
  has_one_attached :file
end

class DocumentsController < ActionController::Base
  skip_forgery_protection
  before_action { ActiveStorage::Current.url_options = {protocol: "http://", host: "localhost"} }

  # The paths to the file, in each way in which it can be reached.
  def create
    file = Document.create!(name: "a file", file: params[:signed_id] || params.require(:file)).file
    variant = file.variant(resize_to_limit: [40, 40], format: :jpg, strip: true) if file.variable?
    render json: {
      service: URI(file.url).request_uri, redirect: rails_storage_redirect_path(file),
      proxy: rails_storage_proxy_path(file), download: rails_blob_path(file, disposition: "attachment"),
      variant: (rails_storage_redirect_path(variant) if variant),
      variant_proxy: (rails_storage_proxy_path(variant) if variant),
      type: file.content_type, analyzed: file.tap(&:analyze).metadata.slice("width", "height")
    }
  end
end
