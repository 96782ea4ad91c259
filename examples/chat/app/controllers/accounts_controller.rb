# frozen_string_literal: true

# The user's name and picture.
class AccountsController < ApplicationController
  before_action :require_sign_in

  def edit
  end

  def update
    upload = params.file(:avatar, default: nil, types: Attachment::IMAGES, max_bytes: Attachment::LARGEST)
    return render(:edit, status: 422) unless current_user.set(params.require(:user).permit(:name)).save_or_explain
    change_avatar(upload) if upload
    DB.transaction do # all messages show the name and the picture
      own = Message.where(user_id: current_user.id)
      own.update(updated_at: Time.now)
      Room.changed(own.distinct.select_map(:room_id))
    end
    redirect_to edit_account_path, notice: "Saved."
  rescue Thumbnail::Failed => error
    redirect_to edit_account_path, alert: "The picture was not taken: #{error.problem}."
  rescue Pelton::Web::Params::Invalid => error # the form stays as it was filled in
    current_user.set(params.require(:user).permit(:name))
    flash.now[:alert] = "The picture #{error.errors.values.first}."
    render :edit, status: 422
  end

  private

  def change_avatar(upload)
    before = current_user.avatar
    Thumbnail.make(upload.path, upload.type, "96x96^", crop: "96x96") do |image|
      current_user.avatar = uploads.keep(image)
    end
    current_user.save_changes
    uploads.delete(before) if before
  end
end
